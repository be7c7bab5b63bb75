import { ParamKind, type ParamFunction } from "./marker.js";
import { createDescriptor, createSource, INVALID } from "./source.js";
import { compileTextRead, type Texts } from "./text.js";

const TEXTS: Texts = {
  // A blank field counts as absent: browsers send every field there is.
  of: ({ body: { form } }, name) =>
    form?.getAll(name).filter((value): value is string => typeof value === "string" && value !== "") ?? [],
  hasOther: ({ body: { form } }, name) => form?.getAll(name).some((value) => typeof value !== "string") ?? false,
  names: ({ body: { form } }) => Array.from(form ?? [], ([name]) => name),
};

/** The text fields of a form. */
export const FORM = createSource({
  kind: ParamKind.FORM,
  descriptor: "Form",
  loc: "form",
  body: "form",
  readsProperties: true,
  compileRead: (parameter) => {
    const read = compileTextRead(parameter, TEXTS);
    return (request) => (request.body.form === null ? INVALID : read(request));
  },
});

/**
 * A field of a form, urlencoded or multipart. A field left blank counts as absent, as browsers send every field.
 *
 * @example
 * ```ts
 * import { App, Form, t } from "tsgi";
 *
 * const app = new App();
 * const params = { name: Form(), age: Form(t.Integer({ minimum: 0 })) };
 * app.post("/profile", { params }, async ({ name, age }) => ({ name, age }));
 * ```
 */
export const Form: ParamFunction<"form"> = createDescriptor(FORM);
