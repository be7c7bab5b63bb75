/** Reads the declared parameters of a function: the kind, the source and the default of each. @module */
import { BackgroundTasks } from "../../http/background.js";
import { UploadFile } from "../../http/upload-file.js";
import { configurationError, withPlace } from "../../common/exceptions.js";
import { absenceOf, type Load, SourceMarker } from "../source.js";
import { BODY } from "../body.js";
import { finderOf } from "../credentials.js";
import { DependsMarker } from "../depends.js";
import { FILE } from "../file.js";
import { type Params, SecurityScopes } from "../annotation.js";
import { ParamKind } from "../marker.js";
import { PATH, QUERY } from "../head.js";
import { HTTPConnection, Request } from "../../http/request.js";
import { Response } from "../../http/response/response.js";
import { assertReadable, compileSchema, isSchema, type Schema } from "../../schema/schema.js";
import { Faults } from "../../schema/faults.js";
import { WebSocket } from "../../http/websocket.js";
import type { Call } from "./call.js";
import { type Named, nameOf, type ParamSpec, type Protocol, type SourceSpec } from "./plan.js";

/** A class that a parameter can be declared with. */
interface InjectableClass {
  readonly kind: ParamKind;
  /** The only protocol that has it. */
  readonly protocol?: Protocol;
  /** Gives the object of a call. */
  readonly read: (call: Call, scopes: readonly string[]) => unknown;
}

const connectionOf = (call: Call) => (call.scope.type === "websocket" ? call.websocket : call.request);

const INJECTABLE: ReadonlyMap<unknown, InjectableClass> = new Map<unknown, InjectableClass>([
  [Request, { kind: ParamKind.REQUEST, protocol: "http", read: (call) => call.request }],
  [HTTPConnection, { kind: ParamKind.REQUEST, read: connectionOf }],
  [Response, { kind: ParamKind.RESPONSE, protocol: "http", read: (call) => call.draft }],
  [BackgroundTasks, { kind: ParamKind.BACKGROUND, read: (call) => call.background }],
  [SecurityScopes, { kind: ParamKind.DEPENDS, read: (_call, scopes) => new SecurityScopes(scopes) }],
  [WebSocket, { kind: ParamKind.WEBSOCKET, protocol: "websocket", read: (call) => call.websocket }],
  [AbortSignal, { kind: ParamKind.SIGNAL, read: (call) => call.signal }],
]);

/** Globals with the same names as our classes, which an editor does not report if the import is missing. */
const GLOBAL_NAMES = ["Request", "Response", "WebSocket", "File"] as const;

/** The place of a parameter: next to its annotation, it decides the kind. */
export interface SpecPlace {
  /** The names of the whole pattern; empty while it is not known. */
  readonly names: readonly string[];
  /** The protocol of the route; `null` if it is unknown. */
  readonly protocol: Protocol | null;
}

/** @param of - What the callable is called. */
function where(name: string, of: string): string {
  return `the parameter ${JSON.stringify(name)} of ${of}`;
}

/** The parameter function that a bare schema stands for. */
function markerOfSchema(schema: Schema, place: string, isInPattern: boolean): SourceMarker {
  assertReadable(schema, place);
  if (isInPattern) return new SourceMarker(PATH, schema);
  const { isStruct } = withPlace(place, () => compileSchema(schema));
  return new SourceMarker(isStruct ? BODY : QUERY, schema);
}

/** Reads one declared parameter. @throws ConfigurationError if it cannot be injected. */
export function compileSpec(
  [name, annotation]: readonly [name: string, annotation: unknown],
  of: string,
  { names, protocol }: SpecPlace,
): ParamSpec {
  const place = where(name, of);
  if (annotation instanceof SourceMarker) {
    return sourceSpec({ name, annotation, marker: annotation }, names, place);
  }
  if (annotation instanceof DependsMarker) {
    return { name, kind: ParamKind.DEPENDS, annotation, default: undefined, marker: annotation };
  }
  if (annotation === UploadFile) {
    return sourceSpec({ name, annotation, marker: new SourceMarker(FILE) }, names, place);
  }
  const injectable = INJECTABLE.get(annotation);
  if (injectable) {
    const isSocket = annotation === HTTPConnection && protocol === "websocket";
    const kind = isSocket ? ParamKind.WEBSOCKET : injectable.kind;
    return { name, kind, annotation, default: undefined, marker: null };
  }
  if (isSchema(annotation)) {
    const marker = markerOfSchema(annotation, place, names.includes(name));
    return sourceSpec({ name, annotation, marker }, names, place);
  }
  const globals: Readonly<Record<string, unknown>> = globalThis;
  const global = GLOBAL_NAMES.find((key) => annotation !== undefined && annotation === globals[key]);
  if (global) {
    throw configurationError("TSGI_GLOBAL_CLASS_IN_PARAMS", place, global);
  }
  throw configurationError("TSGI_INVALID_ANNOTATION", place, annotation);
}

function sourceSpec(
  { name, annotation, marker }: Pick<SourceSpec, "name" | "annotation" | "marker">,
  names: readonly string[],
  place: string,
): ParamSpec {
  const { source } = marker;
  if (source.isInPattern && !names.includes(marker.wireName(name))) {
    throw configurationError("TSGI_PATH_PARAMETER_NOT_IN_PATTERN", place, marker.wireName(name));
  }
  withPlace(place, () => marker.compiled);
  const absent = absenceOf(marker, place);
  const value = absent.isRequired ? undefined : absent.make(new Faults());
  return { name, kind: source.kind, annotation, default: value instanceof Promise ? undefined : value, marker };
}

/** The specs of a handler: its params, and after them the pattern's other names. */
export function compileHandlerSpecs(named: Named, params: Params, place: SpecPlace): ParamSpec[] {
  const of = named.callable.name === "" ? "the handler" : nameOf(named);
  const specs = Object.entries(params).map((param) => compileSpec(param, of, place));
  const declared = new Set(Object.keys(params));
  for (const name of place.names) {
    if (declared.has(name)) continue;
    const marker = new SourceMarker(PATH);
    specs.push({ name, kind: ParamKind.PATH, annotation: marker, default: undefined, marker });
  }
  return specs;
}

/** Compiles the function that reads a parameter in a call. @param scopes - Those that `SecurityScopes` has. */
export function compileReadOf(
  { name, annotation, marker }: ParamSpec,
  scopes: readonly string[],
  named: Named,
): (call: Call) => unknown {
  if (marker instanceof SourceMarker) {
    const isCredential = finderOf(named.callable) !== undefined;
    return marker.source.compileRead({ name, marker, where: where(name, nameOf(named)), isCredential });
  }
  const { read } = INJECTABLE.get(annotation) as InjectableClass;
  return (call) => read(call, scopes);
}

/** The body from which a parameter is read, or `null`. */
export function bodyOf({ marker }: ParamSpec) {
  return marker instanceof SourceMarker ? marker.source.body : null;
}

/** The loaders of the body that a parameter is read from. */
export function loadOf({ marker }: ParamSpec): readonly Load[] {
  return marker instanceof SourceMarker ? marker.source.load : [];
}

/** The only protocol that has a parameter; `undefined` if both have it. */
export function protocolOf(spec: ParamSpec): Protocol | undefined {
  return bodyOf(spec) === null ? INJECTABLE.get(spec.annotation)?.protocol : "http";
}
