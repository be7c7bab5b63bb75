/**
 * Shortens the files of a bundle for Node.js, which loads them in half the time. The names of functions, methods and classes
 * stay, and so do short lines: a stack trace can be read without the source map, and Node prints the line of an error.
 */
import path from "node:path";
import { decode, encode } from "@jridgewell/sourcemap-codec";
import { minify } from "@swc/core";
import { build, transform } from "esbuild";

const LINE_LENGTH = 120;

/** Removes the places that esbuild maps to its own input, which is not a source. */
function dropInput({ sources, names, mappings }) {
  const input = sources.indexOf("<stdin>");
  if (input < 0) return { sources, names, mappings };
  const kept = decode(mappings).map((line) =>
    line
      .filter((segment) => segment[1] !== input)
      .map(([column, source, ...place]) =>
        source === undefined ? [column] : [column, source > input ? source - 1 : source, ...place],
      ),
  );
  return { sources: sources.filter((_, index) => index !== input), names, mappings: encode(kept) };
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
  });
  const ownMap = `//# sourceMappingURL=data:application/json;base64,${Buffer.from(short.map).toString("base64")}`;
  const { code, map: mapped } = await transform(`${short.code}\n${ownMap}`, {
    format: "esm",
    target: "esnext",
    charset: "utf8",
    minifyWhitespace: true,
    lineLimit: LINE_LENGTH,
    sourcemap: "external",
    sourcesContent: false,
  });
  const { sources, names, mappings } = dropInput(JSON.parse(mapped));
  const base = `${path.basename(name)}.map`;
  return [
    { name, text: `${code.trimEnd()}\n//# sourceMappingURL=${base}\n` },
    { name: `${name}.map`, text: JSON.stringify({ version: 3, sources, names, mappings }) },
  ];
}

/**
 * TypeBox as one file with short names: no stack trace of an application is about them. It exports only the builder: the
 * objects of its guards would be kept too.
 */
export const SHORT_TYPEBOX = {
  name: "typebox",
  setup(builder) {
    builder.onLoad({ filter: /@sinclair[\\/]typebox[\\/]build[\\/]esm[\\/]index\.mjs$/ }, async ({ path: file }) => {
      const { target } = builder.initialOptions;
      const settings = { bundle: true, minify: true, format: "esm", target, write: false };
      const stdin = { contents: `export { Type } from ${JSON.stringify(file)};`, resolveDir: path.dirname(file) };
      const { outputFiles } = await build({ stdin, ...settings });
      return { contents: outputFiles[0].text };
    });
  },
};
