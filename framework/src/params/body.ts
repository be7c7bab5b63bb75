import { FLAG } from "../options.js";
import { type BodyFunction, ParamKind } from "./marker.js";
import { absenceOf, createDescriptor, createSource, INVALID, type Parameter, type Read } from "./source.js";
import { withLocation } from "./text.js";

/** Compiles the reading of the whole body, or of one member of its object. */
function compileRead(parameter: Parameter): Read {
  const { name, marker, where } = parameter;
  const { check, maySuspend } = marker.compiled;
  const absent = absenceOf(marker, where);
  const wire = marker.wireName(name);
  const takesNull = marker.options.default === null;
  const compileAt = (loc: readonly string[], valueOf: (body: unknown) => unknown) =>
    withLocation(parameter, loc, maySuspend, ({ body: { json } }, faults) => {
      // No value of JSON is `undefined`, which stands for an absent one.
      const value = json.state === "present" ? valueOf(json.value) : undefined;
      if (value === undefined) return absent.make(faults);
      return value === null && takesNull ? null : check(value, faults);
    });
  const readWhole = compileAt(["body"], (body) => body);
  const readMember = compileAt(["body", wire], (body) => {
    return Object.hasOwn(body as object, wire) ? (body as Record<string, unknown>)[wire] : undefined;
  });
  return (request) => {
    if (request.body.json.state === "faulty") return INVALID;
    return request.settings.embedBody ? readMember(request) : readWhole(request);
  };
}

/** The JSON body. */
export const BODY = createSource({
  kind: ParamKind.BODY,
  descriptor: "Body",
  loc: "body",
  body: "json",
  ownOptions: { embed: FLAG },
  compileRead,
});

/**
 * The JSON body; one of several is a member of the body's object. Needs `Content-Type: application/json`.
 *
 * @example
 * ```ts
 * import { App, Body, t } from "tsgi";
 *
 * const app = new App();
 * const price = Body(t.Number({ minimum: 0 }), { embed: true });
 * app.put("/price", { params: { price } }, async ({ price }) => ({ price })); // takes {"price": 9.5}
 * ```
 */
export const Body: BodyFunction = createDescriptor(BODY);
