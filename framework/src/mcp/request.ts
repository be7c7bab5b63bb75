/** The request that a call of a tool is. @module */
import type { App } from "../app.js";
import type { ASGIApp } from "../asgi.js";
import { RequestValidationError } from "../exceptions.js";
import { isWellFormed } from "../path.js";
import { cookieValues, type Request } from "../request.js";
import { isRecord } from "../schema.js";
import { toFetchHandler } from "../web.js";
import type { Argument } from "./inputs.js";
import type { Tool } from "./tools.js";

/** Headers that belong to the message or to the program that sent it, and not to the caller. Cookies are written anew. */
const NOT_FORWARDED =
  /^(?:accept.*|access-control-.*|cache-control|connection|content-.*|cookie|expect|host|if-.*|keep-alive|last-event-id|mcp-.*|origin|pragma|proxy-.*|range|referer|sec-.*|te|trailer|transfer-encoding|upgrade.*|user-agent)$/;

type Arguments = Readonly<Record<string, unknown>>;

/** A part of the request, with the arguments that it is made of. */
type Given = readonly (readonly [argument: Argument, value: unknown])[];

/**
 * Makes the request of a call. The caller's own headers and cookies come before those that arguments name.
 *
 * @throws RequestValidationError for arguments that no request can carry. The route itself checks all others.
 */
export function createRequest(tool: Tool, args: Arguments, caller: Request, signal: AbortSignal): globalThis.Request {
  const known = new Set(tool.args.map(({ name }) => name));
  const unknown = Object.keys(args).filter((name) => !known.has(name));
  if (unknown.length > 0) throw invalid("extra_forbidden", "Unknown argument", "arguments", ...unknown);
  const given = tool.args.filter(({ name }) => Object.hasOwn(args, name)).map((one) => [one, args[one.name]] as const);
  const of = (...places: readonly Argument["place"][]): Given => given.filter(([{ place }]) => places.includes(place));
  const { method } = tool.endpoint.record;
  const headers = headersOf(caller, of("header"), of("cookie"));
  const body = jsonOf(of("body"), of("member")) ?? formOf(of("form"), of("field"));
  if (typeof body === "string") headers.set("content-type", "application/json");
  const root = encodeURI(caller.scope.root_path ?? "");
  const query = queryOf(tool, of("query"), caller);
  const url = `${caller.url.origin}${root}${pathOf(tool, of("path"))}${query}`;
  return new globalThis.Request(url, { method, headers, signal, ...(body === null ? {} : { body }) });
}

/** Sends a request to the application in this process: same client, same state, same place below mounts. */
export function send(app: App, request: globalThis.Request, { scope }: Request): Promise<globalThis.Response> {
  const inner: ASGIApp = async (made, receive, reply) => {
    if (made.type !== "http") return;
    const { method, path, raw_path, query_string, headers } = made;
    const own = { method, path, raw_path, query_string, headers, state: { ...scope.state } };
    await app({ ...scope, ...own, app: undefined, path_params: {} }, receive, reply);
  };
  return toFetchHandler(inner, { lifespan: "off", ...(app.settings.logger && { logger: app.settings.logger }) })(
    request,
  );
}

function invalid(type: string, msg: string, place: string, ...names: readonly string[]): RequestValidationError {
  return new RequestValidationError(names.map((name) => ({ type, loc: [place, name], msg })));
}

/** Text for what is text on the wire. A value of a wrong type arrives as JSON, and is refused by the route's schema. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Texts by their names on the wire: a list repeats its name, `null` leaves it out. */
function* pairsOf(given: Given): Generator<[name: string, text: string]> {
  for (const [{ wire }, value] of given) {
    for (const item of Array.isArray(value) ? value : [value]) if (item !== null) yield [wire, textOf(item)];
  }
}

/** Attack: `../admin` as a value leads to another route, with this one's name in the agent's log. */
function pathOf({ endpoint: { pattern } }: Tool, given: Given): string {
  const values = Object.fromEntries(pairsOf(given));
  for (const name of pattern.names) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) throw invalid("missing", "Field required", "path", name);
    if (value === "" || value === "." || value === ".." || !isWellFormed(value)) {
      throw invalid("value_error", "Input should be text that can stand in a path", "path", name);
    }
  }
  return pattern.build(values);
}

function queryOf({ queryKeys }: Tool, given: Given, caller: Request): string {
  const query = new URLSearchParams([...pairsOf(given)]);
  for (const name of queryKeys) for (const key of caller.queryParams.getAll(name)) query.append(name, key);
  return query.size === 0 ? "" : `?${String(query)}`;
}

function headersOf(caller: Request, given: Given, cookies: Given): Headers {
  const headers = new Headers(Object.entries(caller.headers).filter(([name]) => !NOT_FORWARDED.test(name)));
  for (const [name, text] of pairsOf(given.filter(([{ wire }]) => !headers.has(wire)))) {
    try {
      headers.append(name, text);
    } catch {
      throw invalid("value_error", "Input should be text that can stand in a header", "header", name);
    }
  }
  const own = caller.header("cookie");
  const added = Array.from(pairsOf(cookies.filter(([{ wire }]) => cookieValues(own, wire).length === 0)));
  const all = [
    ...(own === undefined ? [] : [own]),
    ...added.map(([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`),
  ];
  if (all.length > 0) headers.set("cookie", all.join("; "));
  return headers;
}

function jsonOf([whole]: Given, members: Given): string | null {
  if (whole) return JSON.stringify(whole[1]);
  if (members.length === 0) return null;
  return JSON.stringify(Object.fromEntries(members.map(([{ wire }, value]) => [wire, value])));
}

function formOf([whole]: Given, fields: Given): URLSearchParams | null {
  const [, value] = whole ?? [];
  if (whole && !isRecord(value)) throw invalid("dict_type", "Input should be an object", "form", whole[0].name);
  const members = Object.entries(value ?? {}).map(([wire, one]): Given[number] => [
    { name: wire, place: "field", wire },
    one,
  ]);
  const all = [...members, ...fields];
  return all.length === 0 ? null : new URLSearchParams([...pairsOf(all)]);
}
