// Bundles d3.js, with the versions at the top and the licences beside it. The same lock file gives the same bytes.
import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const target = process.argv[2];
const options = { entryPoints: ["d3.js"], bundle: true, minify: true, format: "iife", globalName: "d3", target: "es2020", write: false, metafile: true };
const { outputFiles, metafile } = await build(options);
const packages = [...new Set(Object.keys(metafile.inputs).map((path) => path.match(/node_modules\/([^/]+)/)?.[1]).filter(Boolean))].sort();
const versions = packages.map((name) => `${name} ${JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version}`);
writeFileSync(`${target}/d3.min.js`, `/* ${versions.join(", ")}; see LICENSE. Made by \`make charts\`. */\n${outputFiles[0].text}`);
const licences = packages.map((name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`);
writeFileSync(`${target}/LICENSE`, licences.join(`\n${"-".repeat(72)}\n\n`));
