import { headerValues } from "../request.js";
import {
  type Coerce,
  compileCoerce,
  type CompiledSchema,
  compileSchema,
  Faults,
  isStandardSchema,
  type JSONSchema,
} from "../schema.js";
import { ParamKind, type SourceMarker } from "../params.js";
import type { Call } from "./call.js";
import type { Read } from "./plan.js";

const SOURCE_NAMES = ["path", "query", "header", "cookie", "body", "form"] as const;

/** Gives the texts under one name; `null` when there are none. */
type TextsOf = (call: Call, name: string) => readonly string[] | null;

const NO_HEADERS: readonly never[] = [];
const noneIfEmpty = (texts: readonly string[]) => (texts.length === 0 ? null : texts);

function pathTexts(call: Call, name: string): readonly string[] | null {
  const text = call.pathParams[name];
  return text === undefined ? null : [text];
}

function queryTexts(call: Call, name: string): readonly string[] | null {
  const bytes = call.scope.query_string;
  return bytes === undefined || bytes.length === 0 ? null : noneIfEmpty(call.query.getAll(name));
}

function headerTexts(call: Call, name: string): readonly string[] | null {
  return noneIfEmpty(headerValues(call.scope.headers ?? NO_HEADERS, name));
}

function cookieTexts(call: Call, name: string): readonly string[] | null {
  const { cookies } = call.request;
  return name in cookies ? [cookies[name] as string] : null;
}

const TEXTS_OF: readonly TextsOf[] = [pathTexts, queryTexts, headerTexts, cookieTexts];

/** A parameter `userAgent` or `user_agent` reads the header `user-agent`. */
export function headerName(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
}

/** The name under which the parameter travels. */
export function wireName(name: string, marker: SourceMarker): string {
  if (marker.options.alias !== undefined) {
    return marker.kind === ParamKind.HEADER ? marker.options.alias.toLowerCase() : marker.options.alias;
  }
  return marker.kind === ParamKind.HEADER ? headerName(name) : name;
}

/** What stands in for an absent value: a default, `undefined` for an optional one, or the fault `missing`. */
export interface Absence {
  readonly isRequired: boolean;
  readonly make: () => unknown;
}

const REQUIRED: Absence = { isRequired: true, make: () => undefined };

/** Works out what an absent value becomes, from the descriptor first and the schema next. */
export function absenceOf(marker: SourceMarker, compiled: CompiledSchema | null): Absence {
  const { options } = marker;
  if (Object.hasOwn(options, "default") && options.default !== undefined) return absence(options.default);
  if (compiled?.hasDefault) return absence(compiled.defaultValue);
  return compiled?.isOptional ? { isRequired: false, make: () => undefined } : REQUIRED;
}

function absence(value: unknown): Absence {
  return {
    isRequired: false,
    make: typeof value === "object" && value !== null ? () => structuredClone(value) : () => value,
  };
}

/** Reports `missing` or gives the stand-in. */
function standIn(absent: Absence, call: Call, loc: (string | number)[]): unknown {
  return absent.isRequired ? call.faults.add("missing", "Field required", null, loc) : absent.make();
}

/** Runs a schema's check and puts `loc` in front of what it finds; also when the check takes its time. */
function checkAt(compiled: CompiledSchema, value: unknown, call: Call, loc: readonly (string | number)[]): unknown {
  const own = new Faults();
  const result = compiled.check(value, own);
  const settle = (settled: unknown) => {
    for (const fault of own.list) {
      if (!call.faults.full) call.faults.list.push({ ...fault, loc: [...loc, ...fault.loc] });
    }
    return settled;
  };
  return result instanceof Promise ? result.then(settle) : settle(result);
}

/** From the texts of one name to the handler's value. */
function fromTexts(compiled: CompiledSchema | null, source: string, name: string) {
  if (!compiled) return (texts: readonly string[]): unknown => texts[texts.length - 1];
  return (texts: readonly string[], call: Call): unknown => {
    const { faults } = call;
    const before = faults.count;
    const value = compiled.coerce(texts, faults);
    if (faults.count > before) {
      faults.within(before, name);
      faults.within(before, source);
      return undefined;
    }
    return checkAt(compiled, value, call, [source, name]);
  };
}

/** One property of an object schema that is read from texts. */
interface TextProperty {
  readonly key: string;
  readonly name: string;
  readonly coerce: Coerce;
}

/** Reads each property of an object schema by its own name. */
function readProperties(
  compiled: CompiledSchema,
  properties: ReadonlyMap<string, JSONSchema>,
  kind: number,
  absent: Absence,
) {
  const source = SOURCE_NAMES[kind] as string;
  const list: TextProperty[] = [...properties].map(([key, schema]) => ({
    key,
    name: kind === ParamKind.HEADER ? headerName(key) : key,
    coerce: compileCoerce({ ...(compiled.json?.$defs ? { $defs: compiled.json.$defs } : {}), ...schema }),
  }));
  return (call: Call, textsOf: TextsOf, allNames: (() => Iterable<string>) | null): unknown => {
    const { faults } = call;
    const before = faults.count;
    const value: Record<string, unknown> = {};
    let found = false;
    for (const { key, name, coerce } of list) {
      const texts = textsOf(call, name);
      if (!texts) continue;
      found = true;
      const start = faults.count;
      value[key] = coerce(texts, faults);
      faults.within(start, name);
    }
    if (!found && !absent.isRequired) return absent.make();
    if (allNames && compiled.json?.additionalProperties === false) {
      for (const name of allNames()) {
        if (!properties.has(name)) faults.add("extra_forbidden", "Extra inputs are not permitted", undefined, [name]);
      }
    }
    if (faults.count > before) {
      faults.within(before, source);
      return undefined;
    }
    return checkAt(compiled, value, call, [source]);
  };
}

/** Compiles the reading of a path, query, header or cookie parameter. */
export function compileRead(name: string, marker: SourceMarker): Read {
  const { kind, schema } = marker;
  const compiled = schema && compileSchema(schema);
  const absent = absenceOf(marker, compiled);
  const textsOf = TEXTS_OF[kind] as TextsOf;
  if (compiled?.properties && kind !== ParamKind.PATH) {
    const read = readProperties(compiled, compiled.properties, kind, absent);
    return (call) => {
      const names =
        kind === ParamKind.QUERY
          ? () => call.query.keys()
          : kind === ParamKind.COOKIE
            ? () => Object.keys(call.request.cookies)
            : null;
      return read(call, textsOf, names);
    };
  }
  const wire = wireName(name, marker);
  const source = SOURCE_NAMES[kind] as string;
  const convert = fromTexts(compiled, source, wire);
  if (kind === ParamKind.PATH && !compiled) return (call) => call.pathParams[wire];
  return (call) => {
    const texts = textsOf(call, wire);
    return texts ? convert(texts, call) : standIn(absent, call, [source, wire]);
  };
}

/** Compiles the reading of a form field. A blank field counts as absent: browsers send every field there is. */
export function compileFormRead(name: string, marker: SourceMarker): Read {
  const compiled = marker.schema && compileSchema(marker.schema);
  const absent = absenceOf(marker, compiled);
  const wire = wireName(name, marker);
  const convert = fromTexts(compiled, "form", wire);
  const readAll = compiled?.properties ? readProperties(compiled, compiled.properties, ParamKind.FORM, absent) : null;
  return async (call) => {
    const body = await call.form();
    if (body.state === "faulty") return undefined;
    const { form } = body;
    const textsOf = (_call: Call, key: string) => noneIfEmpty(form.getAll(key).filter((text) => text !== ""));
    if (readAll) {
      return readAll(call, textsOf, () => new Set([...form].map(([key]) => key)));
    }
    const texts = textsOf(call, wire);
    return texts ? convert(texts, call) : standIn(absent, call, ["form", wire]);
  };
}

/** Compiles the reading of a body parameter: the whole body, or one member of its object. */
export function compileBodyRead(name: string, marker: SourceMarker): Read {
  const { schema } = marker;
  const compiled = schema && compileSchema(schema);
  const absent = absenceOf(marker, compiled);
  const wire = wireName(name, marker);
  const takesNull = marker.options.default === null;
  const check = (value: unknown, call: Call, loc: readonly (string | number)[]): unknown => {
    if (value === null && takesNull) return null;
    if (compiled) return checkAt(compiled, value, call, loc);
    return typeof value === "string"
      ? value
      : call.faults.add("string_type", "Input should be a valid string", value, [...loc]);
  };
  return async (call) => {
    const body = await call.json();
    if (body.state === "faulty") return undefined;
    const embed = call.settings.embedBody;
    const loc = embed ? ["body", wire] : ["body"];
    if (body.state === "absent") return standIn(absent, call, loc);
    if (!embed) return check(body.value, call, loc);
    if (typeof body.value !== "object" || body.value === null || Array.isArray(body.value)) {
      return call.faults.add("object_type", "Input should be a valid object", body.value, ["body"]);
    }
    return Object.hasOwn(body.value, wire)
      ? check((body.value as Record<string, unknown>)[wire], call, loc)
      : standIn(absent, call, loc);
  };
}

/** Whether text in the schema would go in unread: a Standard Schema without JSON Schema. */
export function lacksJSONSchema(schema: unknown): boolean {
  return isStandardSchema(schema) && compileSchema(schema).json === null;
}
