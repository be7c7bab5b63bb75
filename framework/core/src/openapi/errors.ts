/** The bodies of errors in the OpenAPI document: `{"detail": …}`, problem details, or a custom format. @module */
import { PROBLEM_FORMAT } from "../http/problem-details.js";
import { DEFAULT_WRITER } from "../protocol/error-format.js";
import type { JSONSchema } from "../schema/json-schema.js";
import { toJSONSchema } from "../schema/schema.js";
import type { Components } from "./components.js";
import type { ErrorFormat } from "./error-format.js";
import { ownName } from "./naming.js";
import type { SchemaObject } from "./types.js";

/** The format of an application's errors. */
export interface ErrorBodies {
  readonly mediaType: string;
  /** The status of a request with invalid parameters. */
  readonly validationStatus: number;
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
  validationStatus: DEFAULT_WRITER.validationStatus,
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
      type: { type: "string", format: "uri-reference", description: "The kind of problem." },
      title: { type: "string", description: "A summary of the kind." },
      status: { type: "integer", description: "The status." },
      detail: { type: "string", description: "An explanation." },
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
      pointer: { type: "string", description: "A JSON Pointer (RFC 6901) into the body." },
      parameter: { type: "string", description: "The name of the parameter or field." },
      code: { type: "string", description: "The type of the error: `missing`, `int_parsing`, …" },
    },
    required: ["detail", "code"],
  }));
}

function extended(components: Components, members: SchemaObject): SchemaObject {
  return { allOf: [problemSchema(components), members] };
}

/** Problem details. @see RFC 9457 */
const PROBLEM_BODIES: ErrorBodies = {
  ...DETAIL_BODIES,
  mediaType: PROBLEM_FORMAT.mediaType,
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

/** A custom format. A schema without a name is listed under one of the framework, and not repeated for each route. */
function customBodies({ mediaType, schema }: ErrorFormat): ErrorBodies {
  const json = toJSONSchema(schema, "output") ?? {};
  const use = { direction: "output", place: "errorFormat()", role: "Error", of: schema } as const;
  const error = (components: Components) => {
    const convert = () => components.convert(json, use);
    return ownName(json) ? convert() : components.own("HTTPError", convert);
  };
  return { ...DETAIL_BODIES, mediaType, error, invalid: error, hasBodyAlways: true };
}

/** The options of an App that decide on the bodies of its errors. */
export interface ErrorOptions {
  readonly errorFormat?: ErrorFormat;
  readonly problemDetails?: boolean;
  readonly validationStatus?: number;
}

/** The bodies of the errors of an App. */
export function bodiesOf({ errorFormat, problemDetails, validationStatus }: ErrorOptions): ErrorBodies {
  const bodies = problemDetails ? PROBLEM_BODIES : errorFormat ? customBodies(errorFormat) : DETAIL_BODIES;
  const status = validationStatus ?? errorFormat?.validationStatus ?? bodies.validationStatus;
  return { ...bodies, validationStatus: status };
}
