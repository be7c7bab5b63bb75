/** Request bodies of the OpenAPI document: JSON, forms and files. @module */
import { type DocumentPlace, examplesOf, isListed, propertiesOf, schemaOf, type SourceParam } from "./sources.js";
import type { EncodingObject, MediaTypeObject, RequestBodyObject, SchemaObject } from "./types.js";

/** An object of parameters, each a property. */
class Members {
  readonly #properties: Record<string, SchemaObject> = {};
  readonly #required = new Set<string>();

  add(name: string, schema: SchemaObject, isRequired: boolean): void {
    this.#properties[name] ??= schema;
    if (isRequired) this.#required.add(name);
  }

  get isRequired(): boolean {
    return this.#required.size > 0;
  }

  get schema(): SchemaObject {
    const required = this.isRequired ? { required: [...this.#required] } : {};
    return { type: "object", properties: this.#properties, ...required };
  }
}

/** The schema of one member, with the metadata of its parameter function. */
function memberOf(source: SourceParam, place: DocumentPlace): SchemaObject {
  const { description, deprecated, examples } = source.marker.options;
  return place.components.annotate(schemaOf(source, place), {
    description,
    deprecated: deprecated || undefined,
    examples: examples?.length ? examples : undefined,
  });
}

function jsonBody(bodies: readonly SourceParam[], embed: boolean, place: DocumentPlace): RequestBodyObject {
  const [first] = bodies;
  if (!embed && first) {
    const { description, examples } = first.marker.options;
    return {
      ...(description === undefined ? {} : { description }),
      content: { "application/json": { schema: schemaOf(first, place), ...examplesOf(examples) } },
      required: bodies.some((source) => source.isRequired),
    };
  }
  const members = new Members();
  for (const source of bodies) members.add(source.name, memberOf(source, place), source.isRequired);
  return { content: { "application/json": { schema: members.schema } }, required: members.isRequired };
}

function addForm(source: SourceParam, members: Members, place: DocumentPlace): void {
  const properties = propertiesOf(source, place);
  if (!properties) members.add(source.name, memberOf(source, place), source.isRequired);
  for (const { name, schema, isRequired } of properties ?? []) members.add(name, schema, isRequired);
}

/** The media types of the files; `null` when all may have any. */
function encodingOf(files: readonly SourceParam[]): Record<string, EncodingObject> | null {
  const entries = files.flatMap(({ name, marker }) => {
    const { mediaTypes } = marker.options;
    return mediaTypes ? [[name, { contentType: mediaTypes.join(", ") }] as const] : [];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : null;
}

function formBody(forms: readonly [SourceParam, ...SourceParam[]], place: DocumentPlace): RequestBodyObject {
  const [first] = forms;
  const files = forms.filter(({ marker }) => marker.source.body === "multipart");
  const mediaTypes = files.length > 0 ? [] : ["application/x-www-form-urlencoded"];
  let schema: SchemaObject;
  let { isRequired } = first;
  if (forms.length === 1 && files.length === 0 && first.compiled.properties) schema = schemaOf(first, place);
  else {
    const members = new Members();
    for (const source of forms) addForm(source, members, place);
    ({ schema, isRequired } = members);
  }
  const encoding = encodingOf(files);
  const media: MediaTypeObject = { schema, ...(encoding === null ? {} : { encoding }) };
  return {
    content: Object.fromEntries([...mediaTypes, "multipart/form-data"].map((type) => [type, media])),
    required: isRequired,
  };
}

/** The body that a route reads, or `null`. */
export function bodyOf(
  sources: readonly SourceParam[],
  embed: boolean,
  place: DocumentPlace,
): RequestBodyObject | null {
  const listed = sources.filter(isListed);
  const bodies = listed.filter(({ marker }) => marker.source.body === "json");
  if (bodies.length > 0) return jsonBody(bodies, embed, place);
  const [form, ...forms] = listed.filter(({ marker }) => marker.source.body !== null);
  return form ? formBody([form, ...forms], place) : null;
}
