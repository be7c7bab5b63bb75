/** The request that a call of a tool is. @module */
import { type ASGIApp, type Logger, type Request, RequestValidationError } from "tsgi";
import { type Entrance, isFieldValue, isRecord, isWellFormed } from "tsgi/internals";
import { toFetchHandler } from "tsgi/web";
import type { Argument } from "./arguments.js";
import type { Tool } from "./tools.js";

/** Headers that belong to the message or to the program that sent it, and not to the caller. */
const NOT_FORWARDED =
  /^(?:accept.*|access-control-.*|cache-control|connection|content-.*|expect|host|if-.*|keep-alive|last-event-id|mcp-.*|origin|pragma|proxy-.*|range|referer|sec-.*|te|trailer|transfer-encoding|upgrade.*|user-agent)$/;

type Arguments = Readonly<Record<string, unknown>>;

/** Arguments by their names on the wire. */
type Given = readonly (readonly [wire: string, value: unknown])[];

/**
 * Makes the request of a call. The caller's own headers and cookies come before those that arguments name.
 *
 * @param rootPath - The prefix of the application that has the tool.
 * @throws RequestValidationError for arguments that no request can carry. The route itself checks all others.
 */
export function createRequest(
  tool: Tool,
  args: Arguments,
  caller: Request,
  { rootPath, signal }: { readonly rootPath: string; readonly signal: AbortSignal },
): globalThis.Request {
  const unknown = Object.keys(args).filter((name) => !tool.args.has(name));
  if (unknown.length > 0) throw invalid("extra_forbidden", "Unknown argument", "arguments", ...unknown);
  const given = [...tool.args].filter(([name]) => Object.hasOwn(args, name));
  const at = (place: Argument["place"]): Given =>
    given.filter(([, argument]) => argument.place === place).map(([name, { wire }]) => [wire, args[name]]);
  const root = `${caller.url.origin}${encodeURI(rootPath)}`;
  const url = new URL(root + pathOf(tool, at("path")));
  const keys = tool.queryKeys.flatMap((name) => caller.queryParams.getAll(name).map((key) => [name, key] as const));
  for (const [name, text] of [...textsOf(at("query")), ...keys]) url.searchParams.append(name, text);
  const headers = headersOf(caller, at("header"), at("cookie"));
  const body = bodyOf(at("body"), tool.isForm);
  if (typeof body === "string") headers.set("content-type", "application/json");
  return new globalThis.Request(url, { method: tool.endpoint.record.method, headers, signal, body });
}

/** Sends a request to the application in this process: same client, same state, through all middleware. */
export function send(
  { app, scope }: Entrance,
  request: globalThis.Request,
  logger: Logger,
): Promise<globalThis.Response> {
  const inner: ASGIApp = async (made, receive, reply) => {
    if (made.type !== "http") return;
    const { type, method, path, raw_path, query_string, headers } = made;
    const own = { type, method, path, raw_path, query_string, headers, state: { ...scope.state } };
    await app({ ...scope, ...own, app: undefined, path_params: {} }, receive, reply);
  };
  return toFetchHandler(inner, { lifespan: "off", logger })(request);
}

function invalid(type: string, msg: string, place: string, ...names: readonly string[]): RequestValidationError {
  return new RequestValidationError(names.map((name) => ({ type, loc: [place, name], msg })));
}

/** Texts for the wire: a list repeats its name, `null` leaves it out. Of a wrong type JSON arrives, which the route refuses. */
function* textsOf(given: Given): Generator<[name: string, text: string]> {
  for (const [wire, value] of given) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== null) yield [wire, typeof item === "string" ? item : JSON.stringify(item)];
    }
  }
}

/** Attack: `../admin` as a value leads to another route, with this one's name in the agent's log. */
function pathOf({ endpoint: { pattern } }: Tool, given: Given): string {
  const values = new Map(given.map((one) => [one[0], Array.from(textsOf([one]), ([, text]) => text)]));
  for (const name of pattern.names) {
    const value = values.get(name)?.join() ?? "";
    if (!/^\.{0,2}$/.test(value) && isWellFormed(value)) continue;
    throw invalid("value_error", "Input should be text that is valid in a path", "path", name);
  }
  return pattern.build(Object.fromEntries(values));
}

function headersOf(caller: Request, given: Given, cookies: Given): Headers {
  const headers = new Headers(Object.entries(caller.headers).filter(([name]) => !NOT_FORWARDED.test(name)));
  for (const [name, text] of textsOf(given.filter(([wire]) => !headers.has(wire)))) {
    if (!isFieldValue(text)) {
      throw invalid("value_error", "Input should be text that is valid in a header", "header", name);
    }
    headers.append(name, text);
  }
  const added = textsOf(cookies.filter(([wire]) => !Object.hasOwn(caller.cookies, wire)));
  const pairs = Array.from(added, ([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`);
  if (pairs.length > 0) headers.set("cookie", [headers.get("cookie") ?? [], pairs].flat().join("; "));
  return headers;
}

function bodyOf(given: Given, isForm: boolean): string | URLSearchParams | null {
  const [first] = given;
  if (!first) return null;
  const value = first[0] === "" ? first[1] : Object.fromEntries(given);
  if (!isForm) return JSON.stringify(value);
  if (!isRecord(value)) throw invalid("dict_type", "Input should be an object", "body");
  return new URLSearchParams([...textsOf(Object.entries(value))]);
}
