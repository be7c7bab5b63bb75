/** The bodies of errors in the OpenAPI document: `{"detail": …}`, or problem details. @module */
import { PROBLEM_TYPE } from "../protocol/error-response.js";
import type { JSONSchema } from "../schema/json-schema.js";
import type { Components } from "./components.js";
import type { SchemaObject } from "./types.js";

/** The format of an application's errors. */
export interface ErrorBodies {
  readonly mediaType: string;
  /** The body of an error, as `httpExceptionHandler` and middleware write it. */
  readonly error: (components: Components) => SchemaObject;
  /** The body of the response to a request with invalid parameters. */
  readonly invalid: (components: Components) => SchemaObject;
  /** The body of an error that is declared with a schema. */
  readonly declared: (schema: SchemaObject, components: Components) => SchemaObject;
  /** `true` if an error that is declared without a body has the one of every error. */
  readonly hasBodyAlways: boolean;
}

/** Schemas of a member of `loc` and of an `input`. Components, because generators of clients write no unions in place. */
const LOCATION: JSONSchema = { anyOf: [{ type: "string" }, { type: "integer" }] };
const INPUT: JSONSchema = {
  anyOf: [
    { type: "string" },
    { type: "number" },
    { type: "boolean" },
    { type: "array", items: {} },
    { type: ["object", "null"] },
  ],
};

function faultSchema(components: Components): SchemaObject {
  return {
    type: "object",
    properties: {
      type: { type: "string", description: "The type of the error: `missing`, `int_parsing`, …" },
      loc: {
        type: "array",
        items: components.own("ValidationErrorLocation", () => components.write(LOCATION)),
        description:
          "The location: `path`, `query`, `header`, `cookie`, `body`, `form` or `file`, then names and indexes.",
      },
      msg: { type: "string", description: "One sentence for a person." },
      input: components.annotate(
        components.own("ValidationErrorInput", () => components.write(INPUT)),
        { description: "The received value, if it is safe to show." },
      ),
    },
    required: ["type", "loc", "msg"],
  };
}

/** The response to a request with invalid parameters, as `requestValidationExceptionHandler` writes it. */
function validationErrorSchema(components: Components): SchemaObject {
  return components.own("HTTPValidationError", () => ({
    type: "object",
    properties: { detail: { type: "array", items: components.own("ValidationError", () => faultSchema(components)) } },
    required: ["detail"],
  }));
}

function errorSchema(components: Components): SchemaObject {
  return components.own("HTTPError", () => ({
    type: "object",
    properties: { detail: { type: "string" } },
    required: ["detail"],
  }));
}

/** `{"detail": …}` */
export const DETAIL_BODIES: ErrorBodies = {
  mediaType: "application/json",
  error: errorSchema,
  invalid: validationErrorSchema,
  declared: (schema) => schema,
  hasBodyAlways: false,
};

/** RFC 9457 §3.1 */
function problemSchema(components: Components): SchemaObject {
  return components.own("ProblemDetails", () => ({
    type: "object",
    properties: {
      type: { type: "string", format: "uri-reference", description: "Identifies the kind of problem." },
      title: { type: "string", description: "A summary of the kind of problem." },
      status: { type: "integer", description: "The HTTP status code." },
      detail: { type: "string", description: "An explanation of this problem." },
      instance: { type: "string", format: "uri-reference", description: "The path of the request." },
    },
    required: ["type", "title", "status"],
  }));
}

function issueSchema(components: Components): SchemaObject {
  return components.own("ValidationProblemIssue", () => ({
    type: "object",
    properties: {
      detail: { type: "string", description: "One sentence for a person." },
      pointer: { type: "string", description: "The place in the JSON body, as a JSON Pointer (RFC 6901)." },
      parameter: { type: "string", description: "The name of the parameter or form field." },
      code: { type: "string", description: "The kind of validation error: `missing`, `int_parsing`, …" },
    },
    required: ["detail", "code"],
  }));
}

function extended(components: Components, members: SchemaObject): SchemaObject {
  return { allOf: [problemSchema(components), members] };
}

/** Problem details. @see RFC 9457 */
export const PROBLEM_BODIES: ErrorBodies = {
  mediaType: PROBLEM_TYPE,
  error: problemSchema,
  invalid: (components) =>
    components.own("ValidationProblem", () =>
      extended(components, {
        type: "object",
        properties: { errors: { type: "array", items: issueSchema(components) } },
        required: ["errors"],
      }),
    ),
  declared: (schema, components) => extended(components, schema),
  hasBodyAlways: true,
};
