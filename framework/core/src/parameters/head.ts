/** Parameters that are read from strings: `Path()`, `Query()`, `Header()`, `Cookie()`, and the reading of a form's fields. @module */
import { cookieValues } from "../http/request/cookies.js";
import { configurationError } from "../common/exceptions.js";
import { decodeLatin1 } from "../protocol/bytes.js";
import { headerValues } from "../protocol/header-list.js";
import { parseList } from "../protocol/http-grammar.js";
import type { Coerce, SentTexts } from "../schema/coerce.js";
import { Faults } from "../schema/faults.js";
import { type ParamFunction, ParamKind, type PathFunction } from "./marker.js";
import {
  absenceOf,
  createParamFunction,
  createSource,
  Location,
  type Parameter,
  type ParamSource,
  type Read,
  type RequestParts,
} from "./source.js";

/** The texts of a source by name. */
export interface Texts {
  /** Returns the string to use, or `undefined`. */
  readonly one: (request: RequestParts, name: string) => string | undefined;
  /** Returns every string. */
  readonly all: (request: RequestParts, name: string) => readonly string[];
  /** Splits the strings into the items of an array. Absent if each is an item. */
  readonly split?: (texts: readonly string[], request: RequestParts, name: string) => readonly string[];
  /** Tells a name that has something other than text, such as a file. */
  readonly hasOther?: (request: RequestParts, name: string) => boolean;
  /** Every name that was sent. Absent if clients always send names that no schema has. */
  readonly names?: (request: RequestParts) => Iterable<string>;
}

/** Finds the text that was sent under a name, or everything for an array, and converts it. */
interface Conversion<Sent> {
  /** Returns `undefined` for no value. */
  readonly find: (request: RequestParts, name: string) => Sent | undefined;
  readonly convert: (sent: Sent, faults: Faults) => unknown;
}

/** Finds everything that was sent under a name. */
function compileFind({ all, split }: Texts, { isCredential }: Parameter): Conversion<SentTexts>["find"] {
  return (request, name) => {
    const texts = all(request, name);
    if (texts.length === 0) return undefined;
    const whole = texts.length === 1 ? texts[0] : undefined;
    return { whole, items: split && !isCredential ? split(texts, request, name) : texts };
  };
}

function refuseFile(faults: Faults, loc: readonly string[] = []): undefined {
  return faults.add("string_type", "Input should be text, not a file", undefined, loc);
}

/** @throws ConfigurationError if no string can become a value of the schema. */
function readable(coerce: Coerce | null, where: string): Coerce {
  if (coerce) return coerce;
  throw configurationError("TSGI_SCHEMA_NOT_READABLE_FROM_TEXT", where);
}

/** One property of an object schema that is read from texts. */
interface Field {
  readonly key: string;
  readonly name: string;
  /** Returns `undefined` for no value, and after an error. */
  readonly take: (request: RequestParts, faults: Faults) => unknown;
}

function compileTake<Sent>(name: string, { find, convert }: Conversion<Sent>): Field["take"] {
  return (request, faults) => {
    const sent = find(request, name);
    return sent === undefined ? undefined : convert(sent, faults);
  };
}

function compileFields(parameter: Parameter, texts: Texts): Field[] {
  const { marker, where } = parameter;
  const { compiled, source } = marker;
  return Array.from(compiled.properties ?? [], ([key, property]) => {
    const name = source.wireName(key);
    const place = `The property ${JSON.stringify(key)} of ${where}`;
    const coerce = readable(compiled.coerceProperty(property), place);
    const take = coerce.isList
      ? compileTake(name, { find: compileFind(texts, parameter), convert: coerce.convert })
      : compileTake(name, { find: texts.one, convert: coerce.convert });
    return { key, name, take };
  });
}

function refuseOthers(names: Iterable<string>, known: ReadonlySet<string>, faults: Faults): void {
  for (const name of new Set(names)) {
    if (!known.has(name)) faults.add("extra_forbidden", "Extra inputs are not permitted", undefined, [name]);
  }
}

/** Compiles an object of which each property is read by its own name. Reports the errors of all of them. */
function compileObject(parameter: Parameter, texts: Texts) {
  const { marker, where } = parameter;
  const { compiled } = marker;
  const fields = compileFields(parameter, texts);
  const absent = absenceOf(marker, where);
  const names = new Map(fields.map(({ key, name }) => [key, name]));
  const known = new Set(names.values());
  const { isClosed } = compiled;
  return (request: RequestParts, faults: Faults): unknown => {
    const value: Record<string, unknown> = {};
    const unread = new Set<unknown>();
    for (const { key, name, take } of fields) {
      if (texts.hasOther?.(request, name)) {
        refuseFile(faults, [name]);
        unread.add(key);
        continue;
      }
      const before = faults.count;
      const item = take(request, faults);
      if (faults.count > before) {
        faults.within(before, name);
        unread.add(key);
      } else if (item !== undefined) value[key] = item;
    }
    if (isClosed && texts.names) refuseOthers(texts.names(request), known, faults);
    const isAbsent = unread.size === 0 && !absent.isRequired && Object.keys(value).length === 0;
    return isAbsent ? absent.make(faults) : check(value, unread, faults);
  };

  /** Checks the object. A property that could not be converted is reported already, and is missing only now. */
  function check(value: object, unread: ReadonlySet<unknown>, faults: Faults): unknown {
    const own = new Faults();
    const finish = (result: unknown) => {
      const others = own.list.filter(({ loc }) => !unread.has(loc[0]));
      for (const { loc } of others) if (loc.length > 0) loc[0] = names.get(String(loc[0])) ?? (loc[0] as string);
      faults.take(others);
      return result;
    };
    const result = compiled.check(value, own);
    return result instanceof Promise ? result.then(finish) : finish(result);
  }
}

function compileObjectRead(parameter: Parameter, texts: Texts): Read {
  const { marker } = parameter;
  const { maySuspend } = marker.compiled;
  const make = compileObject(parameter, texts);
  const location = new Location(parameter, [marker.source.loc]);
  return (request) => {
    const faults = maySuspend ? new Faults() : request.faults;
    const before = faults.count;
    const result = make(request, faults);
    if (maySuspend) return location.finishRead(request, faults, result);
    return faults.count === before ? result : location.mark(faults, before);
  };
}

/** Compiles a value of the texts of one name. */
function compileValueRead<Sent>(parameter: Parameter, texts: Texts, { find, convert }: Conversion<Sent>): Read {
  const { name, marker, where } = parameter;
  const { check, maySuspend } = marker.compiled;
  const absent = absenceOf(marker, where);
  const wire = marker.wireName(name);
  const location = new Location(parameter, [marker.source.loc, wire]);
  return (request) => {
    const faults = maySuspend ? new Faults() : request.faults;
    const before = faults.count;
    const sent = texts.hasOther?.(request, wire) ? refuseFile(faults) : find(request, wire);
    let result: unknown;
    if (sent !== undefined) {
      result = convert(sent, faults);
      if (faults.count === before) result = check(result, faults);
    } else if (faults.count === before) result = absent.make(faults);
    if (maySuspend) return location.finishRead(request, faults, result);
    return faults.count === before ? result : location.mark(faults, before);
  };
}

/**
 * Compiles the reading of a parameter from the texts of its name, or of each property's name.
 *
 * @throws ConfigurationError when its schema cannot be read from text.
 */
export function compileTextRead(parameter: Parameter, texts: Texts): Read {
  const { compiled, source } = parameter.marker;
  if (source.readsProperties && compiled.properties) return compileObjectRead(parameter, texts);
  const coerce = readable(compiled.coerce(), parameter.where);
  return coerce.isList
    ? compileValueRead(parameter, texts, { find: compileFind(texts, parameter), convert: coerce.convert })
    : compileValueRead(parameter, texts, { find: texts.one, convert: coerce.convert });
}

/** Creates a source in the head of a request from its specific parts. */
function createHeadSource(
  own: Pick<ParamSource, "kind" | "functionName"> & Partial<ParamSource> & { in: NonNullable<ParamSource["in"]> },
  texts: Texts,
): ParamSource {
  return createSource({
    loc: own.in,
    body: null,
    readsProperties: true,
    compileRead: (parameter) => compileTextRead(parameter, texts),
    ...own,
  });
}

const ENCODED_COMMA = /%2c/i;

/** A segment that a middleware has written may have a percent sign that is not an escape. */
function decodeEscapes(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The items of an array in a segment of the path: OpenAPI's style `simple`. A comma inside an item is percent-encoded
 * (RFC 6570 §3.2.2), which only `raw_path` still shows. Equal segments are in the order of their names.
 */
function segmentItems({ path_params = {}, raw_path: bytes }: RequestParts["scope"], name: string): readonly string[] {
  const text = path_params[name] ?? "";
  const raw = bytes !== undefined && text.includes(",") ? decodeLatin1(bytes) : "";
  if (!ENCODED_COMMA.test(raw)) return text.split(",");
  const segments = raw.split("/").filter((segment) => decodeEscapes(segment) === text);
  const names = Object.keys(path_params).filter((other) => path_params[other] === text);
  const sent = segments.at(names.indexOf(name) - names.length);
  return sent?.split(",").map(decodeEscapes) ?? text.split(",");
}

const PATH_TEXTS: Texts = {
  one: ({ scope }, name) => scope.path_params?.[name],
  all: ({ scope }, name) => {
    const text = scope.path_params?.[name];
    return text === undefined ? [] : [text];
  },
  split: (_, { scope }, name) => segmentItems(scope, name),
};

/** The segments of the path that the pattern names. */
export const PATH = createHeadSource(
  {
    kind: ParamKind.PATH,
    functionName: "Path",
    in: "path",
    isInPattern: true,
    readsProperties: false,
    compileRead: (parameter) => {
      const { name, marker } = parameter;
      if (marker.schema !== null) return compileTextRead(parameter, PATH_TEXTS);
      const wire = marker.wireName(name);
      return ({ scope }) => scope.path_params?.[wire];
    },
  },
  PATH_TEXTS,
);

/**
 * A `{name}` of the path pattern.
 *
 * @example
 * ```ts
 * import { App, Path, t } from "tsgi";
 *
 * const app = new App();
 * app.get("/items/{item_id}", { params: { item_id: Path(t.Integer({ minimum: 1 })) } }, async ({ item_id }) => ({
 *   item_id,
 * }));
 * ```
 */
export const Path: PathFunction = createParamFunction(PATH);

const NONE: readonly string[] = [];

function allOf(request: RequestParts, name: string): readonly string[] {
  return request.scope.query_string?.length ? request.query.getAll(name) : NONE;
}

/** The keys of the query string. */
export const QUERY = createHeadSource(
  { kind: ParamKind.QUERY, functionName: "Query", in: "query" },
  {
    one: (request, name) => allOf(request, name).at(-1),
    all: allOf,
    names: ({ query }) => query.keys(),
  },
);

/**
 * A value of the query string. With an object schema each property is read by its own name. `default: null` makes it
 * optional.
 *
 * @example
 * ```ts
 * import { App, Query, t } from "tsgi";
 *
 * const app = new App();
 * app.get("/search", { params: { q: Query({ default: null }), tag: Query(t.Array(t.String()), { default: [] }) } }, async ({ q, tag }) => ({
 *   q,
 *   tag,
 * }));
 * ```
 */
export const Query: ParamFunction<"query"> = createParamFunction(QUERY);

/** `userAgent` and `user_agent` are `user-agent`. */
function headerName(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
}

/** The headers. Their names have no case, so that each is in lower case here (RFC 9110 §5.1). */
const HEADER = createHeadSource(
  {
    kind: ParamKind.HEADER,
    functionName: "Header",
    in: "header",
    wireName: headerName,
    wireAlias: (alias) => alias.toLowerCase(),
  },
  {
    one: ({ scope }, name) => headerValues(scope.headers ?? [], name).at(-1),
    all: ({ scope }, name) => headerValues(scope.headers ?? [], name),
    split: (texts) => texts.flatMap(parseList),
  },
);

/**
 * A header. The parameter `userAgent` or `user_agent` reads `user-agent`.
 *
 * @example
 * ```ts
 * import { App, Header } from "tsgi";
 *
 * const app = new App();
 * app.get("/agent", { params: { userAgent: Header({ default: null }) } }, async ({ userAgent }) => userAgent);
 * ```
 */
export const Header: ParamFunction<"header"> = createParamFunction(HEADER);

/** The cookies. */
const COOKIE = createHeadSource(
  { kind: ParamKind.COOKIE, functionName: "Cookie", in: "cookie" },
  {
    one: ({ request }, name) => request.cookies[name],
    all: ({ request }, name) => cookieValues(request.header("cookie"), name),
    names: ({ request }) => Object.keys(request.cookies),
  },
);

/**
 * A cookie.
 *
 * @example
 * ```ts
 * import { App, Cookie } from "tsgi";
 *
 * const app = new App();
 * app.get("/theme", { params: { theme: Cookie({ default: null }) } }, async ({ theme }) => theme ?? "light");
 * ```
 */
export const Cookie: ParamFunction<"cookie"> = createParamFunction(COOKIE);
