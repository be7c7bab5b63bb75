/** Pairs of documents, and what a comparison of the two has to say. */
import type { ChangeKind } from "../src/changes.js";

/** A pair of documents. */
export interface Pair {
  readonly title: string;
  readonly kind: ChangeKind | "neutral";
  readonly reason: string;
  /** `operation place: message` of the changes of that kind, in part. */
  readonly changes: readonly string[];
  readonly before: object;
  readonly after: object;
}

type Schema = Readonly<Record<string, unknown>> | boolean;

const TEXT = { type: "string" };
const OK = { 200: { description: "OK" } };

/** A document with some operations, each under method and path. */
function api(operations: Readonly<Record<string, object>>, rest: object = {}): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [key, operation] of Object.entries(operations)) {
    const [method = "", path = ""] = key.split(" ");
    (paths[path] ??= {})[method] = { responses: OK, ...operation };
  }
  return { openapi: "3.1.1", info: { title: "A", version: "1" }, paths, ...rest };
}

const query = (name: string, schema: Schema, required = false) => ({ name, in: "query", required, schema });
const json = (schema: Schema) => ({ content: { "application/json": { schema } } });

/** An operation that accepts a value, and one that returns it. */
const takes = (schema: Schema, rest = {}) =>
  api({ "post /items": { requestBody: { required: true, ...json(schema) } } }, rest);
const gives = (schema: Schema, rest = {}) =>
  api({ "get /items": { responses: { 200: { description: "OK", ...json(schema) } } } }, rest);
const asks = (...parameters: object[]) => api({ "get /items": { parameters } });
const answers = (responses: object) => api({ "get /items": { responses } });
const lines = (media: object) => answers({ 200: { content: { "application/jsonl": media } } });
const struct = (properties: Readonly<Record<string, Schema>>, ...required: string[]) => ({
  type: "object",
  properties,
  ...(required.length > 0 ? { required } : {}),
});
const listed = (schemas: object) => ({ components: { schemas } });
const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** A WebSocket with schemas of its messages. */
const socket = (messages: object) => ({
  openapi: "3.1.1",
  info: { title: "A", version: "1" },
  paths: { "/chat": { "x-websocket": messages } },
});

const ID = { name: "id", in: "path", required: true, schema: TEXT };

type Row = readonly [title: string, before: object, after: object, changes: readonly string[], reason: string];

/** A change of one value in a request and in a response. */
type ValueRow = readonly [title: string, before: Schema, after: Schema, place: string, message: string, reason: string];

const cat = struct({ kind: { const: "cat" }, lives: { type: "integer" } }, "kind", "lives");
const dog = struct({ kind: { const: "dog" } }, "kind");

/**
 * Schemas that allow less than before: a breaking change of a request, an addition in a response. The way back is the
 * other way round.
 */
export const NARROWED: readonly ValueRow[] = [
  [
    "a shorter text",
    TEXT,
    { ...TEXT, maxLength: 5 },
    "",
    "maxLength is 5, it was not set",
    "Longer texts no longer fit.",
  ],
  [
    "a higher least length",
    { ...TEXT, minLength: 1 },
    { ...TEXT, minLength: 3 },
    "",
    "minLength is 3, it was 1",
    "Texts of one or two letters no longer fit.",
  ],
  [
    "a new pattern",
    TEXT,
    { ...TEXT, pattern: "^a" },
    "",
    'pattern is "^a", it was not set',
    "Other texts no longer fit.",
  ],
  ["a new format", TEXT, { ...TEXT, format: "email" }, "", 'format is "email"', "A format is checked."],
  ["a value less", { enum: ["a", "b"] }, { enum: ["a"] }, "", '"b" no longer fits', "The value b was allowed."],
  ["a list of values for any text", TEXT, { ...TEXT, enum: ["a"] }, "", 'only "a" fits now', "Any text was allowed."],
  [
    "an integer for a number",
    { type: "number" },
    { type: "integer" },
    "",
    "a number was allowed, now only an integer",
    "Fractions no longer fit.",
  ],
  [
    "a least number",
    { type: "number" },
    { type: "number", minimum: 0 },
    "",
    "minimum is 0",
    "Negative numbers no longer fit.",
  ],
  [
    "a lower greatest number",
    { type: "number", maximum: 9 },
    { type: "number", maximum: 5 },
    "",
    "maximum is 5, it was 9",
    "Six no longer fits.",
  ],
  [
    "multiples of a multiple",
    { type: "integer", multipleOf: 5 },
    { type: "integer", multipleOf: 10 },
    "",
    "multipleOf is 10, it was 5",
    "Fifteen no longer fits.",
  ],
  ["no null any more", { type: ["string", "null"] }, TEXT, "", "null no longer fits", "null was allowed."],
  [
    "a type of two less",
    { anyOf: [TEXT, { type: "integer" }] },
    TEXT,
    "",
    "an integer no longer fits",
    "Integers were allowed.",
  ],
  ["a type where any value fitted", {}, TEXT, "", "any value fitted, now a text", "Only a text fits now."],
  [
    "fewer items",
    { type: "array", items: TEXT },
    { type: "array", items: TEXT, maxItems: 3 },
    "",
    "maxItems is 3",
    "A list of four no longer fits.",
  ],
  [
    "items that do not repeat",
    { type: "array", items: TEXT },
    { type: "array", items: TEXT, uniqueItems: true },
    "",
    "items must be unique",
    "A list with the same item twice no longer fits.",
  ],
  [
    "narrower items",
    { type: "array", items: TEXT },
    { type: "array", items: { ...TEXT, maxLength: 1 } },
    "/[]",
    "maxLength is 1",
    "Items are narrower.",
  ],
  [
    "a tuple's member",
    { type: "array", prefixItems: [TEXT] },
    { type: "array", prefixItems: [{ type: "string", minLength: 1 }] },
    "/0",
    "minLength is 1",
    "An empty first item no longer fits.",
  ],
  [
    "narrower values of a record",
    { type: "object", additionalProperties: {} },
    { type: "object", additionalProperties: TEXT },
    "/*",
    "any value fitted, now a text",
    "Values may only be texts now.",
  ],
  [
    "a property that is narrower",
    struct({ a: TEXT }),
    struct({ a: { const: "x" } }),
    "/a",
    'only "x" fits now',
    "A property is narrower.",
  ],
  [
    "a property that is required",
    struct({ a: TEXT }),
    struct({ a: TEXT }, "a"),
    "/a",
    "the property is required now",
    "The property could be left out.",
  ],
  [
    "a member less of a union",
    { oneOf: [cat, dog] },
    cat,
    "",
    'an object with {"kind":"dog"} no longer fits',
    "A dog was allowed.",
  ],
  ["a condition beside a text", TEXT, { ...TEXT, not: { const: "x" } }, "", "not is", "The value x no longer fits."],
];

const fromValues = NARROWED.flatMap(([title, wide, narrow, place, message, reason]): Pair[] => {
  const make = (
    kind: ChangeKind,
    side: string,
    before: object,
    after: object,
    why: string,
    changes: string[],
  ): Pair => ({
    title: `${title}, ${side}`,
    kind,
    reason: why,
    changes,
    before,
    after,
  });
  return [
    make("breaking", "asked of a request", takes(wide), takes(narrow), reason, [
      `POST /items body${place}: ${message}`,
    ]),
    make("addition", "promised of an answer", gives(wide), gives(narrow), "Every such answer was possible before.", [
      `GET /items response/200${place}: `,
    ]),
    make("addition", "no longer asked of a request", takes(narrow), takes(wide), "Every earlier request still fits.", [
      `POST /items body${place}: `,
    ]),
    make(
      "breaking",
      "no longer promised of an answer",
      gives(narrow),
      gives(wide),
      `A client does not expect it: ${reason}`,
      [`GET /items response/200${place}: `],
    ),
  ];
});

const BREAKING: readonly Row[] = [
  [
    "a WebSocket is removed",
    socket({ sends: TEXT }),
    api({}),
    ["WEBSOCKET /chat: the operation is missing"],
    "Its clients get 404.",
  ],
  [
    "a WebSocket receives less",
    socket({ receives: struct({ text: TEXT }) }),
    socket({ receives: struct({ text: TEXT }, "text") }),
    ["WEBSOCKET /chat receives/text: the property is required now"],
    "Messages of earlier clients close the socket.",
  ],
  [
    "a WebSocket sends another message",
    socket({ sends: { const: "a" } }),
    socket({ sends: { enum: ["a", "b"] } }),
    ['WEBSOCKET /chat sends: "b" fits as well'],
    "Clients do not expect it.",
  ],
  [
    "an operation is removed",
    api({ "get /a": {}, "get /b": {} }),
    api({ "get /a": {} }),
    ["GET /b: the operation is missing"],
    "Its clients get 404.",
  ],
  [
    "a method of a path is removed",
    api({ "get /a": {}, "post /a": {} }),
    api({ "get /a": {} }),
    ["POST /a: the operation is missing"],
    "Its clients get 405.",
  ],
  [
    "a path is renamed",
    api({ "get /a": {} }),
    api({ "get /b": {} }),
    ["GET /a: the operation is missing"],
    "Its clients get 404.",
  ],
  [
    "a required parameter is added",
    asks(),
    asks(query("limit", TEXT, true)),
    ["GET /items query/limit: the parameter is new, and required"],
    "No earlier client sends it.",
  ],
  [
    "a required header is added",
    asks(),
    asks({ name: "x-tenant", in: "header", required: true, schema: TEXT }),
    ["header/x-tenant: the parameter is new, and required"],
    "No earlier client sends it.",
  ],
  [
    "a parameter becomes required",
    asks(query("a", TEXT)),
    asks(query("a", TEXT, true)),
    ["query/a: the parameter is required now"],
    "A client may leave it out.",
  ],
  [
    "a parameter is removed",
    asks(query("a", TEXT)),
    asks(),
    ["query/a: the parameter is missing"],
    "A filter that is ignored gives another answer.",
  ],
  [
    "a parameter moves",
    asks(query("a", TEXT)),
    asks({ ...query("a", TEXT), in: "header" }),
    ["query/a: the parameter is missing"],
    "Clients send it in the query.",
  ],
  [
    "a parameter is narrowed",
    asks(query("a", TEXT)),
    asks(query("a", { type: "integer" })),
    ["query/a: a text no longer fits"],
    "Texts other than numbers are refused.",
  ],
  [
    "a path parameter is narrowed",
    api({ "get /items/{id}": { parameters: [ID] } }),
    api({ "get /items/{id}": { parameters: [{ ...ID, schema: { ...TEXT, format: "uuid" } }] } }),
    ["path/id: format is"],
    "Other ids are refused.",
  ],
  [
    "a body is added that is required",
    api({ "post /items": {} }),
    takes(TEXT),
    ["POST /items body: the body is new, and required"],
    "No earlier client sends it.",
  ],
  [
    "a body becomes required",
    api({ "post /items": { requestBody: json(TEXT) } }),
    takes(TEXT),
    ["body: the body is required now"],
    "A client may leave it out.",
  ],
  [
    "a body is no longer read",
    takes(TEXT),
    api({ "post /items": {} }),
    ["body: the body is missing"],
    "The values that clients send have no effect.",
  ],
  [
    "a media type of the body is removed",
    api({ "post /items": { requestBody: { content: { "application/json": {}, "text/csv": {} } } } }),
    api({ "post /items": { requestBody: { content: { "application/json": {} } } } }),
    ["body: text/csv is missing"],
    "Clients that send it get 415 or 422.",
  ],
  [
    "a file must be of fewer types",
    api({
      "post /items": {
        requestBody: {
          content: {
            "multipart/form-data": {
              schema: struct({ f: TEXT }),
              encoding: { f: { contentType: "image/png, image/jpeg" } },
            },
          },
        },
      },
    }),
    api({
      "post /items": {
        requestBody: {
          content: {
            "multipart/form-data": { schema: struct({ f: TEXT }), encoding: { f: { contentType: "image/png" } } },
          },
        },
      },
    }),
    ["body/multipart~1form-data/f: only image/png fits now"],
    "JPEG was allowed.",
  ],
  [
    "a required property is added to a request",
    takes(struct({})),
    takes(struct({ a: TEXT }, "a")),
    ["body/a: the property is new, and required"],
    "No earlier client sends it.",
  ],
  [
    "a property of a request is removed",
    takes(struct({ a: TEXT })),
    takes(struct({})),
    ["body/a: the property is missing"],
    "The value that clients send has no effect.",
  ],
  [
    "further properties are refused",
    takes(struct({ a: TEXT })),
    takes({ ...struct({ a: TEXT }), additionalProperties: false }),
    ["body: further properties are refused"],
    "A client may send more.",
  ],
  [
    "a property of an answer is removed",
    gives(struct({ a: TEXT, b: TEXT }, "a", "b")),
    gives(struct({ a: TEXT }, "a")),
    ["response/200/b: the property is missing"],
    "Clients read it.",
  ],
  [
    "an optional property of an answer is removed",
    gives(struct({ a: TEXT })),
    gives(struct({})),
    ["response/200/a: the property is missing"],
    "Clients that read it find it nevermore.",
  ],
  [
    "the success has another status",
    answers({ 200: { description: "" } }),
    answers({ 201: { description: "" } }),
    ["response/201: the status is new", "response/200: the status is missing"],
    "Clients wait for 200.",
  ],
  [
    "a success is added",
    answers({ 200: { description: "" } }),
    answers({ 200: { description: "" }, 202: { description: "" } }),
    ["response/202: the status is new"],
    "Clients know 200 alone.",
  ],
  [
    "a media type of an answer is removed",
    answers({ 200: { content: { "application/json": {}, "text/csv": {} } } }),
    answers({ 200: { content: { "application/json": {} } } }),
    ["response/200: text/csv is missing"],
    "Clients that accept it alone get none.",
  ],
  [
    "an answer has no body any more",
    gives(TEXT),
    answers(OK),
    ["response/200: application/json is missing"],
    "Clients parse it.",
  ],
  [
    "a header of an answer is removed",
    answers({ 200: { headers: { Link: { schema: TEXT } } } }),
    answers(OK),
    ["response/200/header/Link: the header is missing"],
    "Clients read it.",
  ],
  [
    "an error's body has another shape",
    answers({ "4XX": json(struct({ a: TEXT }, "a")) }),
    answers({ "4XX": json(struct({ a: { type: "integer" } }, "a")) }),
    ["response/4XX/a: an integer fits as well"],
    "Clients read a text.",
  ],
  [
    "an answer of a range is described by itself, otherwise",
    answers({ "2XX": json(TEXT) }),
    answers({ 200: json({ type: "integer" }), "2XX": json(TEXT) }),
    ["response/200: an integer fits as well"],
    "Clients read what the range promises.",
  ],
  [
    "an answer is a list now",
    gives(refer("A"), listed({ A: struct({}) })),
    gives({ type: "array", items: refer("A") }, listed({ A: struct({}) })),
    ["response/200: a list fits as well"],
    "Clients read an object.",
  ],
  [
    "a component of an answer is widened",
    gives(refer("A"), listed({ A: struct({ a: TEXT }, "a") })),
    gives(refer("A"), listed({ A: struct({ a: TEXT }) })),
    ["response/200/a: the property is optional now"],
    "Clients read it without a check.",
  ],
  [
    "a struct that contains itself loses a property",
    gives(refer("A"), listed({ A: struct({ a: TEXT, next: refer("A") }) })),
    gives(refer("A"), listed({ A: struct({ next: refer("A") }) })),
    ["response/200/a: the property is missing"],
    "Clients read it.",
  ],
  [
    "a member of a union in an answer is added",
    gives({ oneOf: [refer("Cat")] }, listed({ Cat: cat, Dog: dog })),
    gives({ oneOf: [refer("Cat"), refer("Dog")] }, listed({ Cat: cat, Dog: dog })),
    ["response/200: Dog fits as well"],
    "Clients know cats alone.",
  ],
  [
    "a member of a union in an answer changes",
    gives({ oneOf: [cat, dog] }),
    gives({ oneOf: [struct({ kind: { const: "cat" } }, "kind"), dog] }),
    ["response/200/lives: the property is missing"],
    "Clients of cats read it.",
  ],
  [
    "credentials are asked for",
    api({ "get /a": {} }),
    api(
      { "get /a": { security: [{ key: [] }] } },
      { components: { securitySchemes: { key: { type: "apiKey", in: "header", name: "x-key" } } } },
    ),
    ["GET /a security: a request without credentials no longer opens it, only key"],
    "Earlier clients get 401.",
  ],
  [
    "a scope is asked for",
    api({ "get /a": { security: [{ oauth: ["read"] }] } }),
    api({ "get /a": { security: [{ oauth: ["read", "write"] }] } }),
    ["security: oauth with read no longer opens it"],
    "Earlier tokens do not have it.",
  ],
  [
    "one of two ways in is closed",
    api({ "get /a": { security: [{ a: [] }, { b: [] }] } }),
    api({ "get /a": { security: [{ a: [] }] } }),
    ["security: b no longer opens it"],
    "Clients with the other credentials are refused.",
  ],
  [
    "a key moves to another header",
    api(
      { "get /a": { security: [{ key: [] }] } },
      { components: { securitySchemes: { key: { type: "apiKey", in: "header", name: "x-key" } } } },
    ),
    api(
      { "get /a": { security: [{ key: [] }] } },
      { components: { securitySchemes: { key: { type: "apiKey", in: "header", name: "x-token" } } } },
    ),
    ["security: key no longer opens it"],
    "Clients send the earlier header.",
  ],
  [
    "a webhook is removed",
    api({}, { webhooks: { paid: { post: { responses: OK } } } }),
    api({}),
    ["POST paid: the operation is missing"],
    "Its receivers wait in vain.",
  ],
  [
    "a webhook leaves a property out",
    api({}, { webhooks: { paid: { post: { requestBody: json(struct({ a: TEXT }, "a")) } } } }),
    api({}, { webhooks: { paid: { post: { requestBody: json(struct({ a: TEXT })) } } } }),
    ["POST paid body/a: the property is optional now"],
    "Its receivers read it.",
  ],
  [
    "a webhook wants more in the answer",
    api({}, { "x-webhooks": { paid: { post: { responses: { 200: json(struct({})) } } } } }),
    api({}, { "x-webhooks": { paid: { post: { responses: { 200: json(struct({ a: TEXT }, "a")) } } } } }),
    ["POST paid response/200/a: the property is new, and required"],
    "Its receivers do not send it.",
  ],
  [
    "a callback is removed",
    api({ "post /a": { callbacks: { done: { "{$url}": { post: {} } } } } }),
    api({ "post /a": {} }),
    ["POST /a, done POST {$url}: the operation is missing"],
    "Its receivers wait in vain.",
  ],
  [
    "the items of a stream change",
    lines({ itemSchema: struct({ a: TEXT }, "a") }),
    lines({ itemSchema: struct({}) }),
    ["response/200/application~1jsonl/a: the property is missing"],
    "Clients read it of each item.",
  ],
  [
    "the items of a stream change before 3.2",
    lines({ schema: TEXT, "x-itemSchema": struct({ a: TEXT }, "a") }),
    lines({ schema: TEXT, "x-itemSchema": struct({}) }),
    ["response/200/application~1jsonl/a: the property is missing"],
    "Clients read it of each item.",
  ],
];

const ADDITIONS: readonly Row[] = [
  [
    "a WebSocket receives more, and sends less",
    socket({ receives: TEXT, sends: { enum: ["a", "b"] } }),
    socket({ receives: {}, sends: { const: "a" } }),
    ["WEBSOCKET /chat receives: any value fits now", 'WEBSOCKET /chat sends: "b" no longer fits'],
    "Clients send what they sent, and get nothing new.",
  ],
  [
    "an operation is added",
    api({ "get /a": {} }),
    api({ "get /a": {}, "get /b": {} }),
    ["GET /b: the operation is new"],
    "Nobody calls it yet.",
  ],
  [
    "an optional parameter is added",
    asks(),
    asks(query("a", TEXT)),
    ["query/a: the parameter is new"],
    "It may be left out.",
  ],
  [
    "a parameter becomes optional",
    asks(query("a", TEXT, true)),
    asks(query("a", TEXT)),
    ["query/a: the parameter is optional now"],
    "Clients can continue to send it.",
  ],
  [
    "an optional body is added",
    api({ "post /items": {} }),
    api({ "post /items": { requestBody: json(TEXT) } }),
    ["body: the body is new"],
    "It may be left out.",
  ],
  [
    "a media type of the body is added",
    takes(TEXT),
    api({
      "post /items": {
        requestBody: { required: true, content: { "application/json": { schema: TEXT }, "text/csv": {} } },
      },
    }),
    ["body/text~1csv: text/csv is new"],
    "The earlier one is still read.",
  ],
  [
    "an optional property is added to a request",
    takes(struct({})),
    takes(struct({ a: TEXT })),
    ["body/a: the property is new"],
    "It may be left out.",
  ],
  [
    "a property is added to an answer",
    gives(struct({})),
    gives(struct({ a: TEXT }, "a")),
    ["response/200/a: the property is new"],
    "Clients ignore what they do not know.",
  ],
  [
    "an error is added",
    answers(OK),
    answers({ ...OK, 404: { description: "" } }),
    ["response/404: the status is new"],
    "Every client meets errors that are not listed.",
  ],
  [
    "an error is removed",
    answers({ ...OK, 404: { description: "" } }),
    answers(OK),
    ["response/404: the status is missing"],
    "It happens nevermore.",
  ],
  [
    "a media type of an answer is added",
    gives(TEXT),
    answers({ 200: { description: "OK", content: { "application/json": { schema: TEXT }, "text/csv": {} } } }),
    ["text/csv is new"],
    "Clients that accept the earlier one get it.",
  ],
  [
    "a header of an answer is added",
    answers(OK),
    answers({ 200: { description: "OK", headers: { Link: { schema: TEXT } } } }),
    ["response/200/header/Link: the header is new"],
    "Clients ignore what they do not know.",
  ],
  [
    "another way in is opened",
    api({ "get /a": { security: [{ a: [] }] } }),
    api({ "get /a": { security: [{ a: [] }, { b: [] }] } }),
    ["security: b opens it as well"],
    "The earlier one still opens it.",
  ],
  [
    "credentials are no longer asked for",
    api({ "get /a": { security: [{ a: [] }] } }),
    api({ "get /a": {} }),
    ["security: a request without credentials opens it as well"],
    "Clients may go on sending them.",
  ],
  [
    "a webhook is added",
    api({}),
    api({}, { webhooks: { paid: { post: {} } } }),
    ["POST paid: the operation is new"],
    "Nobody waits for it yet.",
  ],
  [
    "a webhook says more",
    api({}, { webhooks: { paid: { post: { requestBody: json(struct({})) } } } }),
    api({}, { webhooks: { paid: { post: { requestBody: json(struct({ a: TEXT }, "a")) } } } }),
    ["POST paid body/a: the property is new"],
    "Receivers ignore what they do not know.",
  ],
];

const WITHOUT_NOTES = struct({ a: TEXT }, "a");
const WITH_NOTES = {
  ...struct({ a: { ...TEXT, title: "A", description: "An a", examples: ["x"], deprecated: true } }, "a"),
  title: "Struct",
  "x-note": 1,
};

const NEUTRAL: readonly Row[] = [
  ["nothing changes", takes(WITHOUT_NOTES), takes(WITHOUT_NOTES), [], "The two are equal."],
  ["texts and examples change", takes(WITHOUT_NOTES), takes(WITH_NOTES), [], "They do not travel."],
  [
    "an operation is deprecated, tagged and described",
    api({ "get /a": { operationId: "a" } }),
    api({ "get /a": { operationId: "b", deprecated: true, tags: ["t"], summary: "S" } }),
    [],
    "It answers as before.",
  ],
  [
    "a path parameter has another name",
    api({ "get /items/{id}": { parameters: [ID] } }),
    api({ "get /items/{item_id}": { parameters: [{ ...ID, name: "item_id" }] } }),
    [],
    "The name does not travel.",
  ],
  [
    "a header parameter is written otherwise",
    asks({ name: "X-A", in: "header", schema: TEXT }),
    asks({ name: "x-a", in: "header", schema: TEXT }),
    [],
    "Names of headers have no case.",
  ],
  [
    "a schema becomes a component",
    takes(WITHOUT_NOTES),
    takes(refer("A"), listed({ A: WITHOUT_NOTES })),
    [],
    "A reference stands for its target.",
  ],
  [
    "a component has another name",
    takes(refer("A"), listed({ A: WITHOUT_NOTES })),
    takes(refer("B"), listed({ B: WITHOUT_NOTES })),
    [],
    "The name does not travel.",
  ],
  [
    "the order of properties, values and members changes",
    takes({ anyOf: [struct({ a: TEXT, b: { enum: ["x", "y"] } }, "a", "b"), TEXT] }),
    takes({ anyOf: [TEXT, struct({ b: { enum: ["y", "x"] }, a: TEXT }, "b", "a")] }),
    [],
    "Order means nothing there.",
  ],
  [
    "3.0 becomes 3.1",
    { ...takes({ type: "string", nullable: true, maxLength: 3 }), openapi: "3.0.3" },
    takes({ anyOf: [{ ...TEXT, maxLength: 3 }, { type: "null" }] }),
    [],
    "The values are the same.",
  ],
  [
    "bounds of 3.0 become those of 3.1",
    { ...takes({ type: "integer", minimum: 1, exclusiveMinimum: true }), openapi: "3.0.3" },
    takes({ type: "integer", exclusiveMinimum: 1 }),
    [],
    "The values are the same.",
  ],
  [
    "a file of 3.0 becomes one of 3.1",
    { ...takes({ type: "string", format: "binary" }), openapi: "3.0.3" },
    takes({ type: "string", contentMediaType: "application/octet-stream" }),
    [],
    "The values are the same.",
  ],
  [
    "an enum becomes constants",
    takes({ enum: ["a", "b"], type: "string" }),
    takes({
      anyOf: [
        { const: "a", type: "string" },
        { const: "b", type: "string" },
      ],
    }),
    [],
    "The values are the same.",
  ],
  [
    "a reference is wrapped",
    takes(refer("A"), listed({ A: WITHOUT_NOTES })),
    takes({ allOf: [refer("A")], description: "D" }, listed({ A: WITHOUT_NOTES })),
    [],
    "allOf with one member is that member.",
  ],
  [
    "an intersection is written out",
    takes({ allOf: [struct({ a: TEXT }, "a"), struct({ b: TEXT })] }),
    takes(struct({ a: TEXT, b: TEXT }, "a")),
    [],
    "The values are the same.",
  ],
  [
    "readOnly properties of a request change",
    takes(struct({ id: { ...TEXT, readOnly: true } })),
    takes(struct({ id: { type: "integer", readOnly: true } })),
    [],
    "They are not sent.",
  ],
  [
    "writeOnly properties of an answer change",
    gives(struct({ p: { ...TEXT, writeOnly: true } })),
    gives(struct({})),
    [],
    "They are not sent.",
  ],
  [
    "an answer says that it has no further properties",
    gives(struct({ a: TEXT })),
    gives({ ...struct({ a: TEXT }), additionalProperties: false }),
    [],
    "It had none before.",
  ],
  [
    "the operations change their order",
    api({ "get /a": {}, "get /b": {} }),
    api({ "get /b": {}, "get /a": {} }),
    [],
    "Order means nothing there.",
  ],
  [
    "a security scheme has another name",
    api(
      { "get /a": { security: [{ a: [] }] } },
      { components: { securitySchemes: { a: { type: "http", scheme: "bearer" } } } },
    ),
    api(
      { "get /a": { security: [{ b: [] }] } },
      { components: { securitySchemes: { b: { type: "http", scheme: "bearer", description: "D" } } } },
    ),
    [],
    "The name does not travel.",
  ],
  [
    "webhooks of 3.0 become those of 3.1",
    { ...api({}, { "x-webhooks": { paid: { post: {} } } }), openapi: "3.0.3" },
    api({}, { webhooks: { paid: { post: {} } } }),
    [],
    "The requests are the same.",
  ],
  [
    "the items of a stream of 3.1 become those of 3.2",
    lines({ schema: TEXT, "x-itemSchema": struct({ a: TEXT }, "a") }),
    lines({ itemSchema: struct({ a: TEXT }, "a") }),
    [],
    "The items are the same.",
  ],
  [
    "a stream that had the schema of a line gets text and items",
    lines({ schema: struct({ a: TEXT }, "a") }),
    lines({ schema: TEXT, "x-itemSchema": struct({ a: TEXT }, "a") }),
    [],
    "Earlier versions of tsgi wrote the schema of a line.",
  ],
];

const toPairs = (kind: Pair["kind"], rows: readonly Row[]): Pair[] =>
  rows.map(([title, before, after, changes, reason]) => ({ title, kind, reason, changes, before, after }));

/** The table. */
export const PAIRS: readonly Pair[] = [
  ...toPairs("breaking", BREAKING),
  ...toPairs("addition", ADDITIONS),
  ...toPairs("neutral", NEUTRAL),
  ...fromValues,
];
