import { absenceOf, isMultiple, type ParamSpec, wireName } from "../dependencies.js";
import { ParamKind, SourceMarker } from "../params.js";
import { type CompiledSchema, compileSchema, type JSONSchema } from "../schema.js";
import type { Components, Use } from "./components.js";
import { annotate, toJSONValue } from "./to-openapi30.js";
import type { ExampleObject, SchemaObject } from "./types.js";

/** A parameter that is read from the request, with what the document says of it. */
export interface Source {
  readonly spec: ParamSpec;
  readonly marker: SourceMarker;
  /** The name under which it travels. */
  readonly name: string;
  /** `null` for text as it comes. */
  readonly compiled: CompiledSchema | null;
  readonly isRequired: boolean;
}

/** The parameters of a route that are read from the request. */
export function sourcesOf(specs: readonly ParamSpec[]): Source[] {
  return specs.flatMap((spec) => {
    const { marker } = spec;
    if (!(marker instanceof SourceMarker)) return [];
    const compiled = marker.schema && compileSchema(marker.schema);
    const { isRequired } = absenceOf(marker, compiled);
    return [{ spec, marker, name: wireName(spec.name, marker), compiled, isRequired }];
  });
}

/** Tells if the document lists it. A path parameter is always listed, because the path names it. */
export function isListed({ spec, marker }: Source): boolean {
  return spec.kind === ParamKind.PATH || marker.options.includeInSchema !== false;
}

/** The schema of a file, or of a list of files: OpenAPI 3.0.3 §4.7.14.2. */
function fileSchema(marker: SourceMarker, json: JSONSchema | null): JSONSchema {
  const file = { type: "string", format: "binary" };
  if (!isMultiple(marker)) return file;
  const { minItems, maxItems } = json ?? {};
  return {
    type: "array",
    items: file,
    ...(minItems === undefined ? {} : { minItems }),
    ...(maxItems === undefined ? {} : { maxItems }),
  };
}

/** The use of its schema. */
export function useOf({ spec, marker }: Source, place: string): Use {
  return { direction: "input", place, role: spec.name, of: marker.schema };
}

/** The schema of its value, with the default of its descriptor. A schema that says nothing of itself allows anything. */
export function schemaOf(source: Source, components: Components, place: string): SchemaObject {
  const { spec, marker, compiled } = source;
  const use = useOf(source, place);
  if (spec.kind === ParamKind.FILE) return components.convert(fileSchema(marker, compiled?.json ?? null), use);
  const json = marker.schema === null ? { type: "string" } : (compiled?.json ?? {});
  const schema = components.convert(json, use);
  // The schema's own default is in its JSON Schema, but that of a library which does not write it there.
  const value = toJSONValue(marker.options.default ?? (json.default === undefined ? spec.default : undefined));
  return value === undefined || value === null ? schema : annotate(schema, { default: value });
}

/** Examples beside a schema: one alone, several by number. */
export function examplesOf(examples: readonly unknown[] | undefined): {
  example?: unknown;
  examples?: Record<string, ExampleObject>;
} {
  if (!examples || examples.length === 0) return {};
  if (examples.length === 1) return { example: toJSONValue(examples[0]) };
  return {
    examples: Object.fromEntries(examples.map((value, index) => [String(index + 1), { value: toJSONValue(value) }])),
  };
}

const RULES_OF_TEXT = [
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "enum",
  "const",
  "anyOf",
  "oneOf",
  "allOf",
  "not",
];

const RULES_OF_LISTS = ["minItems", "maxItems", "uniqueItems", "contains"];

function isAnyText(json: JSONSchema): boolean {
  return json.type === "string" && RULES_OF_TEXT.every((keyword) => json[keyword] === undefined);
}

/** Tells if any text that can travel there fits, or any list of texts. */
function takesAnyText(compiled: CompiledSchema | null): boolean {
  if (compiled === null) return true;
  const { json } = compiled;
  if (json === null || isAnyText(json)) return json !== null;
  const isList = json.type === "array" && RULES_OF_LISTS.every((keyword) => json[keyword] === undefined);
  return isList && typeof json.items === "object" && !Array.isArray(json.items) && isAnyText(json.items);
}

/** Tells if a request can be refused for this parameter. */
export function canFail({ spec, compiled, isRequired }: Source): boolean {
  const { kind } = spec;
  if (kind === ParamKind.BODY || kind === ParamKind.FORM || kind === ParamKind.FILE) return true;
  return (kind !== ParamKind.PATH && isRequired) || !takesAnyText(compiled);
}
