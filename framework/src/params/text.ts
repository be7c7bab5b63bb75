/** Reading parameters from texts: path, query, headers, cookies, and the fields of forms. @module */
import { configurationError } from "../exceptions.js";
import { type Coerce, type CompiledSchema, Faults, isSecretName } from "../schema.js";
import {
  type Absence,
  absenceOf,
  createSource,
  INVALID,
  type Parameter,
  type ParamSource,
  type Read,
  type RequestParts,
} from "./source.js";

/** Makes a value of the request, and adds its faults. */
type Make = (request: RequestParts, faults: Faults) => unknown;

/**
 * Adds the faults that `make` finds to the request's, at the parameter's place. The result is `INVALID` then.
 *
 * @param loc - Outside in.
 * @param maySuspend - `true` gathers its faults apart from those of others, because a promise may come of it.
 */
export function withLocation(
  { name, marker }: Parameter,
  loc: readonly string[],
  maySuspend: boolean,
  make: Make,
): Read {
  const inwards = loc.toReversed();
  const isSecret = isSecretName(name) || isSecretName(marker.options.alias ?? name);
  const mark = (faults: Faults, from: number) => {
    if (isSecret) faults.hideInputs(from);
    for (const part of inwards) faults.within(from, part);
  };
  if (!maySuspend) {
    return (request) => {
      const { faults } = request;
      const before = faults.count;
      const result = make(request, faults);
      if (faults.count === before) return result;
      mark(faults, before);
      return INVALID;
    };
  }
  return (request) => {
    const own = new Faults();
    const settle = (result: unknown) => {
      if (own.count === 0) return result;
      mark(own, 0);
      request.faults.take(own.list);
      return INVALID;
    };
    const result = make(request, own);
    return result instanceof Promise ? result.then(settle) : settle(result);
  };
}

/** The texts of a source by name. */
export interface Texts {
  /** @param isList - `true` for all of them, `false` where the one that counts will do. */
  of(request: RequestParts, name: string, isList: boolean): readonly string[];
  /** Tells a name that has something other than text, such as a file. */
  hasOther?(request: RequestParts, name: string): boolean;
  /** Every name that was sent. Absent where others than those of a schema are sent as a matter of course. */
  names?(request: RequestParts): Iterable<string>;
}

function refuseFile(faults: Faults, loc: readonly string[] = []): undefined {
  return faults.add("string_type", "Input should be text, not a file", undefined, loc);
}

/** @throws ConfigurationError where no text can become a value of the schema. */
function readable(coerce: Coerce | null, where: string): Coerce {
  if (coerce) return coerce;
  throw configurationError("TSGI_SCHEMA_NOT_READABLE_FROM_TEXT", where);
}

/** One property of an object schema that is read from texts. */
interface Field {
  readonly key: string;
  readonly name: string;
  readonly coerce: Coerce;
}

function compileFields(compiled: CompiledSchema, source: ParamSource, where: string): Field[] {
  return Array.from(compiled.properties ?? [], ([key, property]) => ({
    key,
    name: source.wireName(key),
    coerce: readable(compiled.coerceProperty(property), `The property ${JSON.stringify(key)} of ${where}`),
  }));
}

function refuseOthers(names: Iterable<string>, known: ReadonlySet<string>, faults: Faults): void {
  for (const name of new Set(names)) {
    if (!known.has(name)) faults.add("extra_forbidden", "Extra inputs are not permitted", undefined, [name]);
  }
}

/** Compiles an object of which each property is read by its own name. Reports the faults of all of them. */
function compileObject(compiled: CompiledSchema, fields: readonly Field[], texts: Texts, absent: Absence): Make {
  const names = new Map(fields.map(({ key, name }) => [key, name]));
  const known = new Set(names.values());
  const { isClosed } = compiled;
  return (request, faults) => {
    const value: Record<string, unknown> = {};
    const unread = new Set<unknown>();
    let isEmpty = true;
    for (const { key, name, coerce } of fields) {
      if (texts.hasOther?.(request, name)) {
        refuseFile(faults, [name]);
        unread.add(key);
      }
      const found = texts.of(request, name, coerce.isList);
      if (found.length === 0 || unread.has(key)) continue;
      isEmpty = false;
      const before = faults.count;
      const item = coerce.convert(found, faults);
      if (faults.count === before) value[key] = item;
      else {
        faults.within(before, name);
        unread.add(key);
      }
    }
    if (isClosed && texts.names) refuseOthers(texts.names(request), known, faults);
    return isEmpty && unread.size === 0 && !absent.isRequired ? absent.make(faults) : check(value, unread, faults);
  };

  /** Checks the object. A property that could not be converted is reported already, and is missing only now. */
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

/** Compiles a value of the texts of one name. */
function compileValue({ check }: CompiledSchema, coerce: Coerce, wire: string, texts: Texts, absent: Absence): Make {
  return (request, faults) => {
    if (texts.hasOther?.(request, wire)) return refuseFile(faults);
    const found = texts.of(request, wire, coerce.isList);
    if (found.length === 0) return absent.make(faults);
    const before = faults.count;
    const value = coerce.convert(found, faults);
    return faults.count === before ? check(value, faults) : undefined;
  };
}

/**
 * Compiles the reading of a parameter from the texts of its name, or of each property's name.
 *
 * @throws ConfigurationError when its schema cannot be read from text.
 */
export function compileTextRead(parameter: Parameter, texts: Texts): Read {
  const { name, marker, where } = parameter;
  const { compiled, source } = marker;
  const { maySuspend } = compiled;
  const absent = absenceOf(marker, where);
  if (source.readsProperties && compiled.properties) {
    const fields = compileFields(compiled, source, where);
    return withLocation(parameter, [source.loc], maySuspend, compileObject(compiled, fields, texts, absent));
  }
  const wire = marker.wireName(name);
  const coerce = readable(compiled.coerce(), where);
  return withLocation(parameter, [source.loc, wire], maySuspend, compileValue(compiled, coerce, wire, texts, absent));
}

/** Makes a source in the head of a request, of what it has of its own. */
export function createHeadSource(
  own: Pick<ParamSource, "kind" | "descriptor"> & Partial<ParamSource> & { in: NonNullable<ParamSource["in"]> },
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
