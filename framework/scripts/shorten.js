/**
 * Shortens the files of a bundle for Node.js, which loads them in half the time. The names of functions, methods and classes
 * stay, and so do short lines: a stack trace can be read without the source map, and Node prints the line of an error.
 */
import path from "node:path";
import { decode, encode } from "@jridgewell/sourcemap-codec";
import { minify, parse } from "@swc/core";
import { build } from "esbuild";

const LINE_LENGTH = 120;

/** The places where a line of the code may end: a node begins there, after a comma, a semicolon or an opening brace. */
async function findBreaks(code) {
  const tree = await parse(code, { syntax: "ecmascript", target: "es2022" });
  const breaks = new Set();
  const visit = (node) => {
    if (typeof node !== "object" || node === null) return;
    const at = node.span === undefined ? 0 : node.span.start - tree.span.start;
    // The text of a template literal may begin with such a character.
    if (node.type !== "TemplateElement" && ",;{".includes(code.charAt(at - 1))) breaks.add(at);
    Object.values(node).forEach(visit);
  };
  visit(tree);
  return [...breaks].toSorted((one, other) => one - other);
}

/** Breaks long lines. @param mappings - Those of the source map, by line. */
async function breakLines(code, mappings) {
  const breaks = await findBreaks(code);
  let offset = 0;
  const lines = code.split("\n").flatMap((line, index) => {
    const start = offset;
    offset += line.length + 1;
    const starts = [0];
    let last = 0;
    for (const place of breaks.filter((one) => one > start && one < offset).concat(offset)) {
      if (place - start - starts.at(-1) > LINE_LENGTH && last > starts.at(-1)) starts.push(last);
      last = place - start;
    }
    return starts.map((from, nth) => {
      const to = starts[nth + 1] ?? line.length + 1;
      const inLine = (mappings[index] ?? []).filter(([column]) => column >= from && column < to);
      return { text: line.slice(from, to), mappings: inLine.map(([column, ...place]) => [column - from, ...place]) };
    });
  });
  return { code: lines.map(({ text }) => text).join("\n"), mappings: lines.map((line) => line.mappings) };
}

/** @returns The file and its source map. */
export async function shorten(name, text, map) {
  const short = await minify(text, {
    module: true,
    sourceMap: { content: map },
    compress: false,
    mangle: { toplevel: true, keep_classnames: true, keep_fnames: true, keep_private_props: true },
    keep_classnames: true,
    keep_fnames: true,
    format: {
      ascii_only: true, // so that a byte is a character
      comments: { regex: "webpackIgnore|@vite-ignore" },
    },
  });
  const { sources, names, mappings } = JSON.parse(short.map);
  const broken = await breakLines(short.code, decode(mappings));
  const base = `${path.basename(name)}.map`;
  return [
    { name, text: `${broken.code}\n//# sourceMappingURL=${base}\n` },
    { name: `${name}.map`, text: JSON.stringify({ version: 3, sources, names, mappings: encode(broken.mappings) }) },
  ];
}

/**
 * `Extends` is the only function of the builder that checks each member of a schema to learn its kind: with 6 KiB of
 * guards. The builder marks its schemas with their kind, which the other functions read.
 */
const GUARDS_OF_KINDS = {
  name: "guards",
  setup(builder) {
    builder.onLoad({ filter: /typebox[\\/]build[\\/]esm[\\/]type[\\/]guard[\\/]index\.mjs$/ }, ({ path: file }) => ({
      contents: ["Kind", "Type", "Value"]
        .map((name) => `export * as ${name}Guard from "./${name === "Value" ? "value" : "kind"}.mjs";`)
        .join("\n"),
      resolveDir: path.dirname(file),
    }));
  },
};

/**
 * TypeBox as one file with short names: no stack trace of an application is about them. It exports only the builder: the
 * objects of its guards would be kept too.
 */
export const SHORT_TYPEBOX = {
  name: "typebox",
  setup(builder) {
    builder.onLoad({ filter: /@sinclair[\\/]typebox[\\/]build[\\/]esm[\\/]index\.mjs$/ }, async ({ path: file }) => {
      const { target } = builder.initialOptions;
      const settings = { bundle: true, minify: true, format: "esm", target, write: false, plugins: [GUARDS_OF_KINDS] };
      const stdin = { contents: `export { Type } from ${JSON.stringify(file)};`, resolveDir: path.dirname(file) };
      const { outputFiles } = await build({ stdin, ...settings });
      return { contents: outputFiles[0].text };
    });
  },
};
