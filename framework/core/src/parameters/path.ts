/** `Path()`: a parameter from a segment of the path. @module */
import { ParamKind, type PathFunction } from "./marker.js";
import { createDescriptor } from "./source.js";
import { compileTextRead, createHeadSource, type Texts } from "./text.js";

const TEXTS: Texts = {
  one: ({ pathParams }, name) => pathParams[name],
  all: ({ pathParams }, name) => {
    const text = pathParams[name];
    return text === undefined ? [] : [text];
  },
};

/** The segments of the path that the pattern names. */
export const PATH = createHeadSource(
  {
    kind: ParamKind.PATH,
    descriptor: "Path",
    in: "path",
    isInPattern: true,
    readsProperties: false,
    compileRead: (parameter) => {
      const { name, marker } = parameter;
      if (marker.schema !== null) return compileTextRead(parameter, TEXTS);
      const wire = marker.wireName(name);
      return ({ pathParams }) => pathParams[wire];
    },
  },
  TEXTS,
);

/**
 * A `{name}` of the path pattern.
 *
 * @example
 * ```ts
 * import { App, Path, t } from "tsgi";
 *
 * const app = new App();
 * app.get("/items/{item_id}", { params: { item_id: Path(t.Integer({ minimum: 1 })) } }, async ({ item_id }) => ({
 *   item_id,
 * }));
 * ```
 */
export const Path: PathFunction = createDescriptor(PATH);
