// A Node module hook: adds one export to one file while it is loaded. The file on disk stays as it is.
let target;

export function initialize(data) {
  target = data;
}

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (url !== target.url) return loaded;
  return {
    ...loaded,
    source: `${Buffer.from(loaded.source)}\nexport { ${target.local} as ${target.exported} };\n`,
  };
}
