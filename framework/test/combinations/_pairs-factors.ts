/** The features that are combined: their levels, and the combinations that are left out. @module */
import type { Rule, Space } from "./_pairs-array.js";

/** Levels with which a request goes its whole way. */
const ORDINARY = {
  method: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
  parameter: [
    "none",
    "bare",
    "bare body",
    "path",
    "query",
    "list",
    "header",
    "cookie",
    "body",
    "embedded",
    "form",
    "file",
  ],
  schema: [
    "none",
    "integer",
    "format",
    "enum",
    "optional",
    "default",
    "nullable",
    "object",
    "union",
    "date",
    "standard",
  ],
  sent: ["valid", "extra", "twice"],
  framing: ["whole", "chunks"],
  spelling: ["plain", "slash at the end", "doubled slashes", "escapes"],
  guard: ["none", "passes", "generator", "function generator"],
  place: ["route", "router", "app"],
  credentials: ["none", "required", "optional", "absent", "of another scheme", "lenient, absent", "lenient, malformed"],
  scheme: ["bearer", "token", "basic", "key header", "key query", "key cookie"],
  scopes: ["none", "granted"],
  dependency: [
    "none",
    "plain",
    "async",
    "class",
    "of the user",
    "shared with a guard",
    "request generator",
    "function generator",
    "late failure",
    "swallows",
    "replaces",
    "app",
    "app at first use",
  ],
  override: ["none", "user", "dependency", "wrapper"],
  handler: ["async", "in the pool", "on the loop"],
  timer: ["off", "on"],
  signal: ["none", "handler", "dependency"],
  result: [
    "plain",
    "fits",
    "extra",
    "standard",
    "nothing",
    "response",
    "platform response",
    "stream response",
    "event response",
    "platform stream",
    "file",
    "redirect",
  ],
  status: ["200", "201", "204", "205"],
  stream: ["none", "jsonl", "sse"],
  draft: ["none", "header and cookie", "status", "by a dependency"],
  middleware: [
    "none",
    "app header",
    "router header",
    "route header",
    "forwarding",
    "reads the body",
    "limits",
    "csrf",
    "sessions",
    "idempotency",
    "cors",
    "compress",
  ],
  errorHandler: [
    "none",
    "class on route",
    "class on router",
    "status on app",
    "Error on app",
    "platform response on app",
    "throws",
  ],
  /** The Apps with a format of errors. */
  formatted: ["none", "all", "outer", "inner"],
  errorFormat: ["problem details", "custom"],
  whenStopping: ["unset", "finish", "end"],
  etag: ["off", "on", "known"],
  mount: ["none", "router", "app", "app with handlers", "app in app", "app on router"],
  task: ["none", "one", "failing", "of the response"],
  observed: ["no", "yes"],
  driver: ["direct", "HTTP/1.1", "HTTP/2", "node:http", "fetch"],
  send: ["own", "wrapped"],
  request: ["first", "second"],
} as const;

/** Levels that may end a request early. */
const ENDS = {
  method: ["mismatch"],
  sent: ["missing", "mistyped", "unfit", "broken", "wrong type", "too large"],
  guard: ["refuses", "challenges", "fails", "own fault"],
  credentials: [
    "required, missing",
    "required, malformed",
    "required, repeated",
    "required, unknown",
    "optional, malformed",
    "optional, repeated",
    "optional, unknown",
  ],
  scopes: ["lacking"],
  dependency: ["refuses", "fails", "own fault", "failing commit"],
  result: ["unfit", "HTTP error", "error", "times out"],
  stream: ["breaks"],
  etag: ["unmet"],
  middleware: ["responds", "throws", "throws late", "replaces"],
} as const;

/** Levels that are in no row of the array: registration throws for them, or not every machine has them. */
const OTHERS = {
  guard: ["reads a body"],
  credentials: ["optional, no scheme"],
  dependency: ["outlives another", "app, of a request"],
  handler: ["in a process"],
  driver: ["uWebSockets.js"],
} as const;

type Of<Levels, F> = F extends keyof Levels ? (Levels[F] extends readonly (infer L)[] ? L : never) : never;

/** One level of each factor. */
export type Combination = {
  readonly [F in keyof typeof ORDINARY]: (typeof ORDINARY)[F][number] | Of<typeof ENDS, F> | Of<typeof OTHERS, F>;
};

type Parameter = Combination["parameter"];
type Schema = Combination["schema"];
type Result = Combination["result"];

const SCALARS: readonly Schema[] = ["none", "integer", "format", "enum", "date", "standard"];
const TEXTS: readonly Schema[] = [...SCALARS, "optional", "default", "nullable", "object"];

/** The schemas that each kind of parameter can have. Registration refuses the others: `refusalOf` of the model. */
export const SCHEMAS: Readonly<Record<Parameter, readonly Schema[]>> = {
  none: ["none"],
  bare: [...SCALARS, "optional", "default"],
  "bare body": ["object", "union"],
  path: SCALARS,
  query: TEXTS,
  list: TEXTS.filter((schema) => schema !== "object"),
  header: TEXTS,
  cookie: TEXTS,
  body: [...TEXTS, "union"],
  embedded: [...TEXTS, "union"],
  form: TEXTS,
  file: ["none", "optional", "nullable"],
};

const JSON_BODIES: readonly Parameter[] = ["bare body", "body", "embedded"];
const BODIES: readonly Parameter[] = [...JSON_BODIES, "form", "file"];

/** True if a parameter is read from a JSON body. */
export const isJSON = (parameter: Parameter): boolean => JSON_BODIES.includes(parameter);
/** True if a parameter is read from any body. */
export const isBody = (parameter: Parameter): boolean => BODIES.includes(parameter);
/** True if a parameter is read from the query string. */
export const isQuery = (parameter: Parameter): boolean => ["bare", "query", "list"].includes(parameter);

const RESPONSES: readonly Result[] = ["response", "stream response", "event response", "file", "redirect"];
const PLATFORM: readonly Result[] = ["platform response", "platform stream"];

/** True if a handler returns a response instead of a value. */
export const isResponse = (result: Result): boolean => RESPONSES.includes(result) || PLATFORM.includes(result);

/** True if a value of the parameter can have the property `sent`. */
function canSend({ parameter, schema, sent }: Pick<Combination, "parameter" | "schema" | "sent">): boolean {
  if (sent === "valid" || sent === "extra") return true;
  if (parameter === "none") return false;
  switch (sent) {
    case "twice":
      return ["bare", "query", "cookie", "form"].includes(parameter);
    case "missing":
      return true;
    case "mistyped":
      return isJSON(parameter) || parameter === "file" || !["none", "format", "enum"].includes(schema);
    case "unfit":
      return parameter !== "file" && schema !== "none" && schema !== "date";
    case "broken":
      return isJSON(parameter) || parameter === "file";
    default:
      return isBody(parameter);
  }
}

function rule<F extends keyof Combination>(
  of: readonly F[],
  allows: (row: Pick<Combination, F>) => boolean,
): Rule<Combination> {
  return { of, allows };
}

/** Combinations that have no meaning, or mean the same as another. */
const PLAIN_RULES = [
  rule(["parameter", "schema"], ({ parameter, schema }) => SCHEMAS[parameter].includes(schema)),
  rule(["parameter", "schema", "sent"], canSend),
  rule(["parameter", "framing"], ({ parameter, framing }) => framing === "whole" || isBody(parameter)),
  rule(["guard", "place"], ({ guard, place }) => guard !== "none" || place === "route"),
  rule(["mount", "place"], ({ mount, place }) => mount === "router" || place !== "router"),
  // A second request with the key of the first one is a repeat, whose handler does not run.
  rule(["request", "middleware"], ({ request, middleware }) => request !== "second" || middleware !== "idempotency"),
  rule(["mount", "middleware"], ({ mount, middleware }) => mount === "router" || middleware !== "router header"),
  rule(
    ["mount", "errorHandler"],
    ({ mount, errorHandler }) => mount === "router" || errorHandler !== "class on router",
  ),
  rule(["credentials", "scheme"], ({ credentials, scheme }) => credentials !== "none" || scheme === "bearer"),
  rule(["credentials", "scopes"], ({ credentials, scopes }) => credentials !== "none" || scopes === "none"),
  rule(["credentials", "override"], ({ credentials, override }) => credentials !== "none" || override !== "user"),
  rule(["credentials", "dependency"], (c) => c.credentials !== "none" || c.dependency !== "of the user"),
  rule(["dependency", "override"], (c) => c.dependency !== "none" || c.override === "none" || c.override === "user"),
  // A key may have any text, and is sought under its own name.
  rule(["credentials", "scheme"], (c) => c.credentials !== "of another scheme" || !c.scheme.startsWith("key")),
  rule(["task", "result"], ({ task, result }) => task !== "of the response" || RESPONSES.includes(result)),
  // A generator yields items: neither it nor its items are a response.
  rule(["stream", "result"], ({ stream, result }) => stream === "none" || !isResponse(result)),
  rule(["stream", "result"], (c) => c.stream !== "breaks" || ["plain", "fits", "extra"].includes(c.result)),
  rule(["mount", "formatted"], (c) => c.mount.startsWith("app") || c.formatted === "none" || c.formatted === "all"),
  rule(["formatted", "errorFormat"], (c) => c.formatted !== "none" || c.errorFormat === "problem details"),
  // responses.md, ETag: for other methods and for streams, registration throws.
  rule(["method", "etag"], ({ method, etag }) => etag === "off" || method === "GET" || method === "HEAD"),
  rule(["stream", "etag"], ({ stream, etag }) => etag === "off" || stream === "none"),
  // A returned response is sent unchanged, so that conditions have no effect. A file has its own tag and conditions.
  rule(["result", "etag"], ({ result, etag }) => etag === "off" || etag === "on" || !isResponse(result)),
];

const RULES: readonly Rule<Combination>[] = [
  ...PLAIN_RULES,
  // RFC 9110 §9.3.1: a body of GET has no meaning, and the platform's `Request` refuses it.
  rule(["method", "parameter"], (c) => (c.method !== "GET" && c.method !== "HEAD") || !isBody(c.parameter)),
  // The platform's `Headers` joins repeated headers to one value, which a key may have.
  rule(
    ["credentials", "scheme", "driver"],
    (c) => !c.credentials.endsWith("repeated") || c.scheme !== "key header" || c.driver !== "fetch",
  ),
  // concurrency.md: the values that a handler in the pool can accept and return. Items come from a generator on the
  // loop.
  rule(["handler", "stream"], ({ handler, stream }) => handler === "async" || stream === "none"),
  rule(["handler", "parameter"], ({ handler, parameter }) => handler === "async" || parameter !== "file"),
  rule(["handler", "signal"], ({ handler, signal }) => handler !== "in the pool" || signal !== "handler"),
  rule(["handler", "task"], ({ handler, task }) => handler !== "in the pool" || task === "none"),
  rule(["handler", "draft"], (c) => c.handler !== "in the pool" || c.draft === "none" || c.draft === "by a dependency"),
  rule(["handler", "result"], (c) => c.handler !== "in the pool" || !isResponse(c.result) || c.result === "response"),
  // "Any other error comes back as `Error`": whether a pool of the kind "inline" keeps the class is undecided.
  rule(
    ["handler", "result", "errorHandler"],
    (c) => c.handler !== "in the pool" || c.result !== "error" || ["none", "status on app"].includes(c.errorHandler),
  ),
  rule(["handler", "result"], ({ handler, result }) => handler === "async" || result !== "times out"),
  // Undecided: the class of a timeout, and what it is in a generator.
  rule(["errorHandler", "result"], (c) => c.result !== "times out" || /none|status|Error/.test(c.errorHandler)),
  rule(["stream", "result"], ({ stream, result }) => stream === "none" || result !== "times out"),
  // Undecided: whether an error that is not an `HTTPException` takes precedence over invalid parameters.
  rule(["dependency", "sent"], ({ dependency, sent }) => dependency !== "fails" || !isEnd("sent", sent)),
];

const isEnd = (factor: keyof typeof ENDS, level: string): boolean =>
  (ENDS[factor] as readonly string[]).includes(level);

/** The space of all combinations for these drivers. */
export function spaceFor(drivers: readonly Combination["driver"][] = ORDINARY.driver): Space<Combination> {
  return { ordinary: { ...ORDINARY, driver: drivers }, ends: ENDS, rules: RULES };
}
