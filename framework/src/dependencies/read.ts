import type { FormData } from "../datastructures.js";
import { cookieValues, headerValues } from "../request.js";
import { type Coerce, type CompiledSchema, compileSchema, Faults, isSecretName } from "../schema.js";
import { configurationError } from "../exceptions.js";
import { ParamKind, type SourceMarker } from "../params.js";
import { type Absence, absenceOf, TEXT } from "./absence.js";
import type { Call } from "./call.js";
import { INVALID, type Read } from "./plan.js";

const SOURCE_NAMES: readonly string[] = ["path", "query", "header", "cookie"];

/** Gives the texts under one name, none when there are none. */
type TextsOf = (call: Call, name: string, isList: boolean) => readonly string[];

const NONE: readonly never[] = [];

function pathTexts(call: Call, name: string): readonly string[] {
  const text = call.pathParams[name];
  return text === undefined ? NONE : [text];
}

function queryTexts(call: Call, name: string): readonly string[] {
  const bytes = call.scope.query_string;
  return bytes === undefined || bytes.length === 0 ? NONE : call.query.getAll(name);
}

function headerTexts(call: Call, name: string): readonly string[] {
  return headerValues(call.scope.headers ?? NONE, name);
}

function cookieTexts({ request }: Call, name: string, isList: boolean): readonly string[] {
  if (isList) return cookieValues(request.header("cookie"), name);
  const text = request.cookies[name];
  return text === undefined ? NONE : [text];
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

/** The schema of a parameter, compiled. */
function schemaOf(marker: SourceMarker): CompiledSchema {
  return compileSchema(marker.schema ?? TEXT);
}

/** Makes something of an input, and adds what is wrong with it. */
export type Make<Input> = (input: Input, faults: Faults) => unknown;

/** Makes something of an input, where a promise may come of it, and adds what is wrong with it to the call's faults. */
export type MakeFor<Input> = (input: Input, call: Call) => unknown;

/** Where the faults of a parameter are, and how they are shown. */
export interface FaultLocation {
  /** Outside in. */
  readonly loc: readonly string[];
  /** The parameter's own names, which may say that its value is never repeated. */
  readonly names: readonly string[];
  /** Whether a promise may come of it. Its faults are then gathered apart from those of others. */
  readonly maySuspend: boolean;
}

/** Adds the faults that `make` finds to the call's, at the parameter's place. The result is `INVALID` then. */
export function withLocation<Input>(location: FaultLocation, make: Make<Input>): MakeFor<Input> {
  const { loc, names, maySuspend } = location;
  const inwards = loc.toReversed();
  const mark = (faults: Faults, from: number) => {
    if (names.some(isSecretName)) faults.hideInputs(from);
    for (const part of inwards) faults.within(from, part);
  };
  if (!maySuspend) {
    return (input, { faults }) => {
      const before = faults.count;
      const result = make(input, faults);
      if (faults.count === before) return result;
      mark(faults, before);
      return INVALID;
    };
  }
  return (input, { faults }) => {
    const own = new Faults();
    const settle = (result: unknown) => {
      if (own.count === 0) return result;
      mark(own, 0);
      faults.take(own.list);
      return INVALID;
    };
    const result = make(input, own);
    return result instanceof Promise ? result.then(settle) : settle(result);
  };
}

/** From the texts of one name to the handler's value. */
function compileTexts(compiled: CompiledSchema, coerce: Coerce): Make<readonly string[]> {
  const { check } = compiled;
  return (texts, faults) => {
    const before = faults.count;
    const value = convert(coerce, texts, faults);
    return faults.count === before ? check(value, faults) : undefined;
  };
}

function convert(coerce: Coerce, texts: readonly string[], faults: Faults): unknown {
  return coerce.isList ? coerce.texts(texts, faults) : coerce.text(texts[texts.length - 1] as string, faults);
}

/** Texts by name, as an object schema reads them. */
interface Texts {
  /** @param isList - Whether all of them are wanted, and not the one that counts. */
  of(name: string, isList: boolean): readonly string[];
  /** Whether a name has something that is no text, such as a file. */
  hasOther?(name: string): boolean;
  /** Every name that was sent; `null` where others than those of the schema are sent as a matter of course. */
  readonly names: Iterable<string> | null;
}

/** One property of an object schema that is read from texts. */
interface Field {
  readonly key: string;
  readonly name: string;
  readonly coerce: Coerce;
}

function compileFields(compiled: CompiledSchema, kind: number, where: string): Field[] {
  return [...(compiled.properties ?? [])].map(([key, property]) => ({
    key,
    name: kind === ParamKind.HEADER ? headerName(key) : key,
    coerce: readable(compiled.coerceProperty(property), `The property ${JSON.stringify(key)} of ${where}`),
  }));
}

function readable(coerce: Coerce | null, what: string): Coerce {
  if (coerce) return coerce;
  throw configurationError("TSGI_SCHEMA_NOT_READABLE_FROM_TEXT", what);
}

function refuseOthers(names: Iterable<string>, known: ReadonlySet<string>, faults: Faults): void {
  for (const name of new Set(names)) {
    if (!known.has(name)) faults.add("extra_forbidden", "Extra inputs are not permitted", undefined, [name]);
  }
}

/** Reads each property of an object schema by its own name, and tells all that is wrong with any of them. */
function compileObject(compiled: CompiledSchema, fields: readonly Field[], absent: Absence): Make<Texts> {
  const names = new Map(fields.map(({ key, name }) => [key, name]));
  const known = new Set(names.values());
  const { isClosed } = compiled;
  return (texts, faults) => {
    const value: Record<string, unknown> = {};
    const unread = new Set<unknown>();
    let isEmpty = true;
    for (const { key, name, coerce } of fields) {
      if (texts.hasOther?.(name)) {
        refuseFile(faults, [name]);
        unread.add(key);
      }
      const found = texts.of(name, coerce.isList);
      if (found.length === 0 || unread.has(key)) continue;
      isEmpty = false;
      const before = faults.count;
      const item = convert(coerce, found, faults);
      if (faults.count === before) value[key] = item;
      else {
        faults.within(before, name);
        unread.add(key);
      }
    }
    if (isClosed && texts.names) refuseOthers(texts.names, known, faults);
    return isEmpty && unread.size === 0 && !absent.isRequired ? absent.make(faults) : check(value, unread, faults);
  };

  /** Checks the object. What could not be converted is reported already, and is only now missing. */
  function check(value: object, unread: ReadonlySet<unknown>, faults: Faults): unknown {
    const own = new Faults();
    const settle = (result: unknown) => {
      const others = own.list.filter(({ loc }) => !unread.has(loc[0]));
      for (const { loc } of others) if (loc.length > 0) loc[0] = names.get(String(loc[0])) ?? (loc[0] as string);
      faults.take(others);
      return result;
    };
    const result = compiled.check(value, own);
    return result instanceof Promise ? result.then(settle) : settle(result);
  }
}

/** A parameter that is read. */
export interface Source {
  readonly name: string;
  readonly marker: SourceMarker;
  /** Which parameter it is, for messages. */
  readonly where: string;
}

function locationOf({ name, marker }: Source, loc: readonly string[], { maySuspend }: CompiledSchema) {
  return { loc, names: [name, marker.options.alias ?? name], maySuspend };
}

/**
 * Compiles the reading of a path, query, header or cookie parameter.
 *
 * @throws ConfigurationError when its schema cannot be read from text.
 */
export function compileRead(parameter: Source): Read {
  const { name, marker, where } = parameter;
  const { kind } = marker;
  const compiled = schemaOf(marker);
  const absent = absenceOf(marker, compiled, where);
  const textsOf = TEXTS_OF[kind] as TextsOf;
  const source = SOURCE_NAMES[kind] as string;
  if (compiled.properties && kind !== ParamKind.PATH) {
    const fields = compileFields(compiled, kind, where);
    const make = withLocation(locationOf(parameter, [source], compiled), compileObject(compiled, fields, absent));
    return (call) => make({ of: (key, isList) => textsOf(call, key, isList), names: namesOf(call, kind) }, call);
  }
  const wire = wireName(name, marker);
  if (kind === ParamKind.PATH && marker.schema === null) return (call) => call.pathParams[wire];
  const location = locationOf(parameter, [source, wire], compiled);
  const coerce = readable(compiled.coerce(), where);
  const { isList } = coerce;
  const make = withLocation(location, compileTexts(compiled, coerce));
  const makeAbsent = withLocation<void>(location, (_, faults) => absent.make(faults));
  return (call) => {
    const texts = textsOf(call, wire, isList);
    return texts.length > 0 ? make(texts, call) : makeAbsent(undefined, call);
  };
}

function namesOf(call: Call, kind: number): Iterable<string> | null {
  if (kind === ParamKind.QUERY) return call.query.keys();
  return kind === ParamKind.COOKIE ? Object.keys(call.request.cookies) : null;
}

/**
 * Compiles the reading of a form field. A blank field counts as absent: browsers send every field there is.
 *
 * @throws ConfigurationError when its schema cannot be read from text.
 */
export function compileFormRead(parameter: Source): Read {
  const { marker, where } = parameter;
  const compiled = schemaOf(marker);
  const absent = absenceOf(marker, compiled, where);
  const make = compiled.properties
    ? compileFormObject(parameter, compiled, compileFields(compiled, ParamKind.FORM, where), absent)
    : compileFormField(parameter, compiled, readable(compiled.coerce(), where), absent);
  return (call) => {
    const body = call.formBody;
    if (body.state !== "present") return INVALID;
    return make(textsOfForm(body.form), call);
  };
}

function compileFormObject(
  parameter: Source,
  compiled: CompiledSchema,
  fields: readonly Field[],
  absent: Absence,
): MakeFor<Texts> {
  return withLocation(locationOf(parameter, ["form"], compiled), compileObject(compiled, fields, absent));
}

function compileFormField(
  parameter: Source,
  compiled: CompiledSchema,
  coerce: Coerce,
  absent: Absence,
): MakeFor<Texts> {
  const wire = wireName(parameter.name, parameter.marker);
  const make = compileTexts(compiled, coerce);
  return withLocation(locationOf(parameter, ["form", wire], compiled), (all: Texts, faults) => {
    if (all.hasOther?.(wire)) return refuseFile(faults);
    const texts = all.of(wire, coerce.isList);
    return texts.length > 0 ? make(texts, faults) : absent.make(faults);
  });
}

function refuseFile(faults: Faults, loc: readonly string[] = []): undefined {
  return faults.add("string_type", "Input should be text, not a file", undefined, loc);
}

function textsOfForm(form: FormData): Texts {
  return {
    of: (name) => form.getAll(name).filter((value): value is string => typeof value === "string" && value !== ""),
    hasOther: (name) => form.getAll(name).some((value) => typeof value !== "string"),
    names: keysOf(form),
  };
}

function* keysOf(form: Iterable<readonly [name: string, value: unknown]>): Iterable<string> {
  for (const [key] of form) yield key;
}

/** Compiles the reading of a body parameter: the whole body, or one member of its object. */
export function compileBodyRead(parameter: Source): Read {
  const { name, marker, where } = parameter;
  const compiled = schemaOf(marker);
  const absent = absenceOf(marker, compiled, where);
  const wire = wireName(name, marker);
  const takesNull = marker.options.default === null;
  const takeWhole = compileValue(["body"]);
  const takeMember = compileValue(["body", wire]);
  return (call) => {
    const body = call.jsonBody;
    if (body.state === "faulty") return INVALID;
    if (!call.settings.embedBody) return takeWhole(body.state === "absent" ? undefined : body.value, call);
    const members = body.state === "absent" ? {} : (body.value as Record<string, unknown>);
    return takeMember(Object.hasOwn(members, wire) ? members[wire] : undefined, call);
  };

  /** A value of JSON, never `undefined`, which stands for none. */
  function compileValue(loc: readonly string[]): MakeFor<unknown> {
    const { check } = compiled;
    return withLocation(locationOf(parameter, loc, compiled), (value, faults) => {
      if (value === undefined) return absent.make(faults);
      return value === null && takesNull ? null : check(value, faults);
    });
  }
}
