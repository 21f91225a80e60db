// Answers the calls on stdin, one line of JSON each, with the plugins that they name; or becomes the agent of another test, with its folder
// and its variables. test_plugin.py starts this.
import { createInterface } from "node:readline"
import { pathToFileURL } from "node:url"

for await (const line of createInterface({ input: process.stdin })) {
  const { file, name, given, cwd, env } = JSON.parse(line)
  if (env) {
    process.chdir(cwd)
    for (const known of Object.keys(process.env)) if (!(known in env)) delete process.env[known]
    Object.assign(process.env, env)
    continue
  }
  const module = await import(pathToFileURL(file).href)
  console.log(JSON.stringify(await module[name](...given)))
}
