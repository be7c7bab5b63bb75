/** The front ends of Lambda as AWS documents them: a request becomes an event, and a result becomes a response. */
import type { LambdaEvent, LambdaResult } from "../src/index.js";
import type { LambdaHead } from "../src/result.js";

/** A front end, and its payload. */
export type FrontEnd = "REST API" | "HTTP API, payload 1.0" | "HTTP API" | "function URL" | "ALB" | "ALB, multi-value";

export const FRONT_ENDS: readonly FrontEnd[] = [
  "REST API",
  "HTTP API, payload 1.0",
  "HTTP API",
  "function URL",
  "ALB",
  "ALB, multi-value",
];

/** A request of a client, as a front end receives it. */
export interface GatewayRequest {
  readonly method: string;
  /** Path and query as in a request line. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  readonly sourceIp: string;
}

/** A response to the client. */
export interface GatewayResponse {
  readonly status: number;
  readonly headerLines: readonly (readonly [name: string, value: string])[];
}

type Lists = Record<string, string[]>;

/** The values of each name, in the order of the first one. */
function listsOf(pairs: Iterable<readonly [string, string]>): Lists {
  const lists = new Map<string, string[]>();
  for (const [name, value] of pairs) lists.set(name, [...(lists.get(name) ?? []), value]);
  return Object.fromEntries(lists);
}

const lastOf = (lists: Lists) =>
  Object.fromEntries(Object.entries(lists).map(([name, all]) => [name, all.at(-1) ?? ""]));
const joined = (lists: Lists) => Object.fromEntries(Object.entries(lists).map(([name, all]) => [name, all.join(",")]));

/** The parts of a query, as they are. */
function rawQuery(query: string): [string, string][] {
  if (query === "") return [];
  return query.split("&").map((part) => {
    const equals = part.indexOf("=");
    return equals === -1 ? [part, ""] : [part.slice(0, equals), part.slice(equals + 1)];
  });
}

/** HTTP APIs decode the path. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Writes the body in base64 unless its type is text: this is what function URLs and HTTP APIs do. */
function bodyOf({ headers, body }: GatewayRequest): Pick<LambdaEvent, "body" | "isBase64Encoded"> {
  if (body.length === 0) return { body: null, isBase64Encoded: false };
  const type = headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
  const isText = /^(?:text\/|application\/(?:json|xml|javascript))/.test(type);
  const bytes = Buffer.from(body);
  const text = bytes.toString("utf8");
  if (isText && Buffer.from(text).equals(bytes)) return { body: text, isBase64Encoded: false };
  return { body: bytes.toString("base64"), isBase64Encoded: true };
}

/** A header's text: AWS passes it as UTF-8. */
const toText = (value: string) => Buffer.from(value, "latin1").toString("utf8");

/** The event of a request. */
export function toEvent(frontEnd: FrontEnd, request: GatewayRequest): LambdaEvent & Record<string, unknown> {
  const mark = request.target.indexOf("?");
  const rawPath = mark === -1 ? request.target : request.target.slice(0, mark);
  const query = mark === -1 ? "" : request.target.slice(mark + 1);
  const lists = listsOf(request.headers.map(([name, value]) => [name.toLowerCase(), toText(value)] as const));
  const parts = { request, lists, rawPath, query };
  if (frontEnd === "HTTP API" || frontEnd === "function URL") return toV2(frontEnd, parts);
  return frontEnd.startsWith("ALB") ? toALB(frontEnd, parts) : toV1(frontEnd, parts);
}

interface Parts {
  readonly request: GatewayRequest;
  readonly lists: Lists;
  readonly rawPath: string;
  readonly query: string;
}

function toV2(frontEnd: FrontEnd, { request, lists, rawPath, query }: Parts): LambdaEvent & Record<string, unknown> {
  const { cookie = [], ...headers } = lists;
  const path = frontEnd === "HTTP API" ? decoded(rawPath) : rawPath;
  const cookies = cookie.flatMap((line) => line.split("; "));
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath: path,
    rawQueryString: query,
    ...(cookies.length > 0 && { cookies }),
    headers: joined(headers),
    ...(query !== "" && { queryStringParameters: joined(listsOf(new URLSearchParams(query))) }),
    requestContext: {
      accountId: "123456789012",
      domainName: frontEnd === "HTTP API" ? "id.execute-api.eu-west-1.amazonaws.com" : "id.lambda-url.eu-west-1.on.aws",
      http: {
        method: request.method,
        path: decoded(rawPath),
        protocol: "HTTP/1.1",
        sourceIp: request.sourceIp,
        userAgent: "test",
      },
      stage: "$default",
    } as LambdaEvent["requestContext"],
    ...bodyOf(request),
  };
}

function toV1(frontEnd: FrontEnd, { request, lists, rawPath, query }: Parts): LambdaEvent & Record<string, unknown> {
  const parameters = listsOf(new URLSearchParams(query));
  const path = frontEnd === "REST API" ? rawPath : decoded(rawPath);
  return {
    ...(frontEnd !== "REST API" && { version: "1.0" }),
    resource: "/{proxy+}",
    path,
    httpMethod: request.method,
    headers: lastOf(lists),
    multiValueHeaders: lists,
    queryStringParameters: query === "" ? null : lastOf(parameters),
    multiValueQueryStringParameters: query === "" ? null : parameters,
    pathParameters: { proxy: path.slice(1) },
    stageVariables: null,
    requestContext: {
      stage: "prod",
      path: `/prod${rawPath}`,
      httpMethod: request.method,
      protocol: "HTTP/1.1",
      domainName: "id.execute-api.eu-west-1.amazonaws.com",
      identity: { sourceIp: request.sourceIp, userAgent: "test" },
    } as LambdaEvent["requestContext"],
    ...bodyOf(request),
  };
}

function toALB(frontEnd: FrontEnd, { request, lists, rawPath, query }: Parts): LambdaEvent & Record<string, unknown> {
  const forwarded = [...(lists["x-forwarded-for"] ?? []), request.sourceIp].join(", ");
  const headers = {
    ...lists,
    "x-forwarded-for": [forwarded],
    "x-forwarded-proto": ["https"],
    "x-forwarded-port": ["443"],
  };
  const parameters = listsOf(rawQuery(query));
  const isMulti = frontEnd === "ALB, multi-value";
  const { body, isBase64Encoded } = bodyOf(request);
  return {
    requestContext: { elb: { targetGroupArn: "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/a/b" } },
    httpMethod: request.method,
    path: rawPath,
    ...(isMulti
      ? { multiValueHeaders: headers, multiValueQueryStringParameters: parameters }
      : { headers: lastOf(headers), queryStringParameters: lastOf(parameters) }),
    body: body ?? "",
    isBase64Encoded: isBase64Encoded ?? false,
  };
}

/** The fields of a result that each front end knows. API Gateway responds with 502 to a result with others. */
const FIELDS: Readonly<Record<FrontEnd, readonly string[]>> = {
  "REST API": ["statusCode", "headers", "multiValueHeaders", "body", "isBase64Encoded"],
  "HTTP API, payload 1.0": ["statusCode", "headers", "multiValueHeaders", "body", "isBase64Encoded"],
  "HTTP API": ["statusCode", "headers", "cookies", "body", "isBase64Encoded"],
  "function URL": ["statusCode", "headers", "cookies", "body", "isBase64Encoded"],
  ALB: ["statusCode", "headers", "body", "isBase64Encoded"],
  "ALB, multi-value": ["statusCode", "multiValueHeaders", "body", "isBase64Encoded"],
};

/** Reads the head of a result as a front end does. @throws Error for a result to which it would respond with 502. */
export function readHead(frontEnd: FrontEnd, head: LambdaHead): GatewayResponse {
  const unknown = Object.keys(head).filter((name) => !FIELDS[frontEnd].includes(name));
  if (unknown.length > 0) throw new Error(`Malformed Lambda proxy response: ${unknown.join()}`);
  const { statusCode: status, headers = {}, multiValueHeaders = {}, cookies = [] } = head;
  const multi = Object.entries(multiValueHeaders).flatMap(([name, values]) =>
    values.map((value) => [name, value] as const),
  );
  const single = Object.entries(headers).filter(([name]) => !(name in multiValueHeaders));
  const all = [...single, ...multi, ...cookies.map((cookie) => ["set-cookie", cookie] as const)];
  return { status, headerLines: all.map(([name, value]) => [name, Buffer.from(value).toString("latin1")] as const) };
}

/** The response to the client: a result as it arrives after its way through JSON. */
export function readResult(frontEnd: FrontEnd, result: LambdaResult): GatewayResponse & { readonly body: Buffer } {
  const { body, isBase64Encoded, ...head } = JSON.parse(JSON.stringify(result)) as LambdaResult;
  return {
    ...readHead(frontEnd, { ...head }),
    body: Buffer.from(body, isBase64Encoded ? "base64" : "utf8"),
  };
}
