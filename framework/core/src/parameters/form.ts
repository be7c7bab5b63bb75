/** Forms: read and parsed once for all their parameters, fields and files. @module */
import { RequestValidationError } from "../common/exceptions.js";
import { contentHeaders } from "../protocol/header-list.js";
import type { FormData } from "../http/upload-file.js";
import { parseMediaType } from "../protocol/http-grammar.js";
import { MULTIPART, URLENCODED } from "../http/request/form.js";
import { ParamKind, type ParamFunction } from "./marker.js";
import { createParamFunction, createSource, INVALID, type LoadingParts, type RequestParts } from "./source.js";
import { compileTextRead, type Texts } from "./head.js";

const FORM_TYPES: ReadonlySet<string> = new Set([URLENCODED, MULTIPART]);
const FILE_TYPES: ReadonlySet<string> = new Set([MULTIPART]);

/** Reads and parses the form, once. */
export function loadForm(request: LoadingParts): Promise<void> {
  const form = (request.form ??= {
    data: null,
    loading: readForm(request).then((data) => {
      form.data = data;
    }),
  });
  return form.loading;
}

async function readForm({ request, faults, settings: { takesFiles } }: LoadingParts): Promise<FormData | null> {
  const { type: contentType } = contentHeaders(request.scope.headers);
  const isForm = (takesFiles ? FILE_TYPES : FORM_TYPES).has(parseMediaType(contentType));
  if (!isForm && (contentType !== undefined || (await request.body()).length > 0)) {
    const types = takesFiles ? MULTIPART : `${URLENCODED} or ${MULTIPART}`;
    const source = takesFiles ? "file" : "form";
    faults.add("content_type", `Content-Type should be ${types}`, contentType ?? null, [source]);
    return null;
  }
  try {
    return await request.form();
  } catch (error) {
    if (!(error instanceof RequestValidationError)) throw error;
    faults.take(error.errors);
    return null;
  }
}

/** A blank field counts as absent: browsers send every field there is. */
function textsOf({ form }: RequestParts, name: string): readonly string[] {
  return form?.data?.getAll(name).filter((value): value is string => typeof value === "string" && value !== "") ?? [];
}

const TEXTS: Texts = {
  one: (request, name) => textsOf(request, name).at(-1),
  all: textsOf,
  hasOther: ({ form }, name) => form?.data?.getAll(name).some((value) => typeof value !== "string") ?? false,
  names: ({ form }) => Array.from(form?.data ?? [], ([name]) => name),
};

/** The text fields of a form. */
export const FORM = createSource({
  kind: ParamKind.FORM,
  functionName: "Form",
  loc: "form",
  body: "form",
  load: [loadForm],
  readsProperties: true,
  compileRead: (parameter) => {
    const read = compileTextRead(parameter, TEXTS);
    return (request) => (request.form?.data ? read(request) : INVALID);
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
export const Form: ParamFunction<"form"> = createParamFunction(FORM);
