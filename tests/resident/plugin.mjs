// Answers the calls on stdin, one line of JSON each, with the plugins that are named in it. test_plugin.py starts this.
import { createInterface } from "node:readline"
import { pathToFileURL } from "node:url"

for await (const line of createInterface({ input: process.stdin })) {
  const { file, name, given } = JSON.parse(line)
  const module = await import(pathToFileURL(file).href)
  console.log(JSON.stringify(await module[name](...given)))
}
