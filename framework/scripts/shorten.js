/**
 * Shortens the files of a bundle for Node.js, which loads them in half the time. The names of functions, methods and classes
 * stay, and so do short lines: a stack trace can be read without the source map, and Node prints the line of an error.
 */
import path from "node:path";
import { decode, encode } from "@jridgewell/sourcemap-codec";
import { minify } from "@swc/core";
import { build } from "esbuild";

/** Characters after which a line may end: no statement ends by a line break there. */
const BREAKABLE = new Set([",", ";", "{"]);

const LINE_LENGTH = 120;

/** Breaks the lines of a text at places where its source map has the start of a token. */
function breakLines(text, segments) {
  const lines = [];
  const mapped = [];
  for (const [index, line] of text.split("\n").entries()) {
    let start = 0;
    let current = [];
    for (const [column, ...source] of segments[index] ?? []) {
      const isInTemplate = line.startsWith("${", column); // the character before it is text
      if (column - start > LINE_LENGTH && BREAKABLE.has(line[column - 1]) && !isInTemplate) {
        lines.push(line.slice(start, column));
        mapped.push(current);
        [start, current] = [column, []];
      }
      current.push([column - start, ...source]);
    }
    lines.push(line.slice(start));
    mapped.push(current);
  }
  return { text: lines.join("\n"), segments: mapped };
}

/** @returns The file and its source map. */
export async function shorten(name, text, map) {
  const { code, map: mapped } = await minify(text, {
    module: true,
    sourceMap: { content: map },
    compress: false,
    mangle: { toplevel: true, keep_classnames: true, keep_fnames: true, keep_private_props: true },
    keep_classnames: true,
    keep_fnames: true,
  });
  const { sources, names, mappings } = JSON.parse(mapped);
  const broken = breakLines(code.trimEnd(), decode(mappings));
  const base = `${path.basename(name)}.map`;
  return [
    { name, text: `${broken.text}\n//# sourceMappingURL=${base}\n` },
    { name: `${name}.map`, text: JSON.stringify({ version: 3, sources, names, mappings: encode(broken.segments) }) },
  ];
}

/** TypeBox as one file with short names: no stack trace of an application is about them. */
export const SHORT_TYPEBOX = {
  name: "typebox",
  setup(builder) {
    builder.onLoad({ filter: /@sinclair[\\/]typebox[\\/]build[\\/]esm[\\/]index\.mjs$/ }, async ({ path: file }) => {
      const { target } = builder.initialOptions;
      const settings = { bundle: true, minify: true, format: "esm", target, write: false };
      const { outputFiles } = await build({ entryPoints: [file], ...settings });
      return { contents: outputFiles[0].text };
    });
  },
};
