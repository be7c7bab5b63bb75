/** The components of the OpenAPI document: schemas by name, each written once. @module */
import { configurationError } from "../common/exceptions.js";
import { findDiscriminator } from "../schema/unions.js";
import { type JSONSchema, resolveRef, unionMembers } from "../schema/json-schema.js";
import type { Schema } from "../schema/schema.js";
import { type ComponentName, freeName, nameGenerics, ownName, pascalCase, RANK, referredName } from "./naming.js";
import type { DiscriminatorObject, SchemaObject } from "./types.js";
import type { Annotations, Direction, DocumentVersion, Inner } from "./version.js";

/** A schema that is listed by name. */
interface Entry {
  readonly base: string;
  readonly rank: number;
  readonly direction: Direction;
  /** The route that named it first, for messages. */
  readonly place: string;
  /** `null` while it is being converted: a struct may contain itself. */
  content: SchemaObject | null;
  /** The objects that refer to it; their `$ref` is written once the name is known. */
  readonly references: SchemaObject[];
}

/** Entries that turned out to describe the same, under one name. */
interface Component {
  readonly first: Entry;
  /** The name that it gets, unless that is taken. */
  base: string;
  content: SchemaObject;
  readonly directions: Set<Direction>;
  readonly references: SchemaObject[];
}

/** The use of a schema. */
export interface Use {
  readonly direction: Direction;
  /** Method and path, for messages. */
  readonly place: string;
  /** Names an object schema that contains itself and has no name: `user`, `listUsersResponse`. */
  readonly role: string;
  /** The schema as it was written. A schema that is both sent and received keeps its first role. */
  readonly of: Schema | null;
}

/** One JSON Schema with everything that its references can reach. */
class Source {
  readonly root: JSONSchema;
  readonly use: Use;
  #byId: Map<string, JSONSchema> | null = null;

  constructor(root: JSONSchema, use: Use) {
    this.root = root;
    this.use = use;
    this.note(root);
  }

  note(schema: JSONSchema): void {
    if (typeof schema.$id === "string") this.#define(schema.$id, schema);
    if (schema.$defs === undefined) return;
    for (const [name, definition] of Object.entries(schema.$defs)) this.#define(definition.$id ?? name, definition);
  }

  #define(id: string, schema: JSONSchema): void {
    (this.#byId ??= new Map()).set(id, schema);
  }

  resolve(ref: string): JSONSchema {
    const target = this.#byId?.get(ref) ?? resolveRef(ref, this.root);
    if (target) return target;
    throw configurationError("TSGI_UNRESOLVED_REFERENCE.document", ref);
  }
}

/**
 * The schemas of a document. Those with a name are listed once under `components` and referred to from everywhere else.
 * The same struct as input and as output is one component, unless defaults make the two differ: then the input has
 * `Input` after its name.
 */
export class Components {
  readonly #version: DocumentVersion;
  readonly #entries: Entry[] = [];
  readonly #bySchema = { input: new Map<JSONSchema, Entry>(), output: new Map<JSONSchema, Entry>() };
  readonly #targets = new Map<object, Entry>();
  readonly #roles = new Map<Schema, string>();
  readonly #own = new Map<string, Entry>();
  /** The members of each union by discriminator value; their names are written with the references. */
  readonly #discriminators: { mapping: Record<string, string>; members: ReadonlyMap<string, SchemaObject> }[] = [];

  constructor(version: DocumentVersion) {
    this.#version = version;
  }

  /**
   * Converts a schema; its named ones become references, which are complete after `finish`.
   *
   * @param root - The schema whose definitions the references of `schema` mean. Defaults to itself.
   */
  convert(schema: JSONSchema, use: Use, root: JSONSchema = schema): SchemaObject {
    const source = new Source(root, { ...use, role: this.#roleOf(use) });
    const converted = this.#convert(schema, source);
    const own = this.#bySchema[use.direction].get(schema);
    return own && converted.$ref === undefined ? this.#refer(own) : converted;
  }

  #roleOf({ of, role }: Use): string {
    if (of === null) return role;
    const known = this.#roles.get(of) ?? role;
    this.#roles.set(of, known);
    return known;
  }

  /** Lists a schema of the framework's own, made on first use; a user's of the same name takes precedence. */
  own(base: string, make: () => SchemaObject): SchemaObject {
    const known = this.#own.get(base);
    if (known) return this.#refer(known);
    const entry: Entry = { base, rank: RANK.own, direction: "output", place: "", content: null, references: [] };
    this.#own.set(base, entry);
    this.#entries.push(entry);
    entry.content = make();
    return this.#refer(entry);
  }

  #convert(schema: JSONSchema | boolean, source: Source): SchemaObject {
    if (typeof schema === "boolean") return booleanSchema(schema);
    source.note(schema);
    if (schema.$ref !== undefined) return this.#convertRef(schema, schema.$ref, source);
    const known = this.#bySchema[source.use.direction].get(schema);
    if (known) return this.#refer(known);
    const name = ownName(schema);
    return name ? this.#refer(this.#enter(schema, name, source)) : this.#keywords(schema, source);
  }

  /** Adds annotations to a schema of this document. */
  annotate(schema: SchemaObject, annotations: Annotations): SchemaObject {
    return this.#version.annotate(schema, annotations);
  }

  /** Writes a schema of the framework without a name. */
  write(schema: JSONSchema): SchemaObject {
    const inner: Inner = (one) => (typeof one === "boolean" ? booleanSchema(one) : this.write(one));
    return this.#version.writeSchema(schema, { inner, direction: "output", discriminator: null });
  }

  #convertRef(schema: JSONSchema, ref: string, source: Source): SchemaObject {
    const target = source.resolve(ref);
    const known = this.#bySchema[source.use.direction].get(target);
    const entry = known ?? this.#enter(target, this.#nameOf(ref, target, source), source);
    const { description, default: value } = schema;
    return this.annotate(this.#refer(entry), { description, default: value });
  }

  /** An input has the name of the output that it equals, and the other way round. */
  #nameOf(ref: string, target: JSONSchema, { use }: Source): ComponentName {
    const twin = this.#bySchema[use.direction === "input" ? "output" : "input"].get(target);
    return twin ?? referredName(ref, target, pascalCase(use.role));
  }

  #keywords(schema: JSONSchema, source: Source): SchemaObject {
    const discriminator = this.#discriminatorOf(schema, source);
    const inner: Inner = (one) => this.#convert(one, source);
    return this.#version.writeSchema(schema, { inner, direction: source.use.direction, discriminator });
  }

  /** A discriminator knows its members by the names of their components (OpenAPI 3.0.3 §4.7.25): each needs one. */
  #discriminatorOf(schema: JSONSchema, source: Source): DiscriminatorObject | null {
    const members = (unionMembers(schema) ?? []).filter((member) => member.type !== "null");
    const targets = members.map((member) => (member.$ref === undefined ? member : source.resolve(member.$ref)));
    if (!members.every((member, index) => member !== targets[index] || ownName(member))) return null;
    const found = findDiscriminator(targets);
    if (!found?.values.every((value) => typeof value === "string")) return null;
    const references = new Map(
      found.values.map((value, index) => [value, this.#convert(members[index] as JSONSchema, source)]),
    );
    const mapping = Object.fromEntries(found.values.map((value) => [value, ""]));
    this.#discriminators.push({ mapping, members: references });
    return { propertyName: found.key, mapping };
  }

  #enter(schema: JSONSchema, name: ComponentName, source: Source): Entry {
    const { direction, place } = source.use;
    const { base, rank } = name;
    const entry: Entry = { base, rank, direction, place, content: null, references: [] };
    this.#entries.push(entry);
    this.#bySchema[direction].set(schema, entry);
    entry.content = schema.$ref === undefined ? this.#keywords(schema, source) : this.#convert(schema, source);
    return entry;
  }

  #refer(entry: Entry): SchemaObject {
    const reference: SchemaObject = { $ref: "" };
    entry.references.push(reference);
    this.#targets.set(reference, entry);
    return reference;
  }

  /**
   * Names the components, completes every reference, and returns the components in the order of their names.
   *
   * @throws ConfigurationError when two different schemas have the same `$id`.
   */
  finish(): Record<string, SchemaObject> {
    const groups = new Map<string, Component[]>();
    for (const entry of this.#entries.toSorted((left, right) => left.rank - right.rank)) {
      const group = groups.get(entry.base) ?? [];
      groups.set(entry.base, group);
      this.#addTo(group, entry);
    }
    const named = new Map<string, Component>();
    const later: Component[] = [];
    for (const group of this.#byName(groups)) {
      group.sort((left, right) => precedence(left) - precedence(right));
      const [first, ...others] = group;
      if (first === undefined) continue;
      named.set(first.base, first);
      later.push(...others);
    }
    for (const component of later) named.set(freeName(nameOf(component), named), component);
    const sorted = [...named].toSorted(([left], [right]) => (left < right ? -1 : 1));
    const schemas = sorted.map(([name, component]): [string, SchemaObject] => {
      const $ref = `#/components/schemas/${name}`;
      for (const reference of component.references) reference.$ref = $ref;
      return [name, withoutOwnTitle(component)];
    });
    for (const { mapping, members } of this.#discriminators) {
      for (const [value, { $ref = "" }] of members) mapping[value] = $ref;
    }
    return Object.fromEntries(schemas);
  }

  /** The groups by the names that their members get: some are called after their parts. */
  #byName(groups: ReadonlyMap<string, Component[]>): Component[][] {
    const named = new Map<string, Component[]>();
    for (const group of groups.values()) {
      if (group.length > 1 && group.every(({ first }) => first.rank === RANK.title)) this.#nameGenerics(group);
      for (const component of group) {
        const members = named.get(component.base) ?? [];
        named.set(component.base, members);
        members.push(component);
      }
    }
    return [...named.values()];
  }

  #nameGenerics(group: readonly Component[]): void {
    const titled = group.map((component) => ({ base: component.base, parts: this.#partsOf(component.content) }));
    nameGenerics(titled);
    for (const [index, { base }] of titled.entries()) (group[index] as Component).base = base;
  }

  /** The names that the components inside a schema ask for. */
  #partsOf(schema: unknown, parts = new Set<string>()): Set<string> {
    if (typeof schema !== "object" || schema === null) return parts;
    const target = this.#targets.get(schema);
    if (target) parts.add(target.base);
    else for (const member of Object.values(schema)) this.#partsOf(member, parts);
    return parts;
  }

  #addTo(group: Component[], entry: Entry): void {
    const content = entry.content as SchemaObject;
    const twin = group.find(({ first }) =>
      comparing(this.#targets, first.direction !== entry.direction)(first.content, content),
    );
    if (twin) {
      // The input's form counts: it says which keys are refused.
      if (entry.direction === "input" && isOutputOnly(twin)) twin.content = content;
      twin.directions.add(entry.direction);
      twin.references.push(...entry.references);
      return;
    }
    const rival = group.find(({ first, directions }) => first.rank === RANK.id && directions.has(entry.direction));
    if (entry.rank === RANK.id && rival) {
      throw configurationError("TSGI_DUPLICATE_SCHEMA_ID", entry.place, entry.base, rival.first.place);
    }
    group.push({
      first: entry,
      base: entry.base,
      content,
      directions: new Set([entry.direction]),
      references: [...entry.references],
    });
  }
}

function booleanSchema(allowsAll: boolean): SchemaObject {
  return allowsAll ? {} : { not: {} };
}

/** A component without a title that only repeats its name: pages would show `User` and `UserInput` under one heading. */
function withoutOwnTitle({ content, first }: Component): SchemaObject {
  if (content.title !== first.base) return content;
  const { title: _title, ...rest } = content;
  return rest;
}

function isOutputOnly({ directions }: Component): boolean {
  return !directions.has("input");
}

function isInputOnly({ directions }: Component): boolean {
  return !directions.has("output");
}

/** Which of several gets the plain name: the schema that a client receives first, the framework's schemas last. */
function precedence(component: Component): number {
  const { rank } = component.first;
  return rank === RANK.own ? 4 : (isInputOnly(component) ? 2 : 0) + rank;
}

/** The suffix of an input whose output has the same name is `Input`. */
function nameOf(component: Component): string {
  return isInputOnly(component) ? `${component.base}Input` : component.base;
}

/** The names of a `required`, or the strings of an `enum`: their order has no meaning. */
function isTextList(value: object): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** The target of a reference. */
type Target = Pick<Entry, "base" | "content">;

/**
 * Makes a comparison of schemas whose references have no names yet.
 *
 * @param targets - The target of each reference.
 * @param isAcross - Whether an input is compared with an output, which never has further keys and does not state it.
 */
function comparing(targets: ReadonlyMap<object, Target>, isAcross: boolean) {
  /** Pairs that are being compared, which count as equal: structs may contain themselves. */
  const assumed = new Map<Target, Set<Target>>();

  function same(left: unknown, right: unknown): boolean {
    if (left === right) return true;
    if (!isObject(left) || !isObject(right)) return false;
    const leftTarget = targets.get(left);
    const rightTarget = targets.get(right);
    if (Boolean(leftTarget) !== Boolean(rightTarget) || Array.isArray(left) !== Array.isArray(right)) return false;
    // From OpenAPI 3.1 on, a reference can have keywords next to it, which apply as well.
    if (leftTarget && rightTarget && !sameTarget(leftTarget, rightTarget)) return false;
    if (isTextList(left) && isTextList(right)) {
      return JSON.stringify(left.toSorted()) === JSON.stringify(right.toSorted());
    }
    const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
    const isImplied = (key: string) => isAcross && key === "additionalProperties" && !left[key] && !right[key];
    return [...keys].every((key) => isImplied(key) || same(left[key], right[key]));
  }

  function sameTarget(left: Target, right: Target): boolean {
    const known = assumed.get(left) ?? new Set();
    if (left === right || known.has(right)) return true;
    if (left.base !== right.base) return false;
    assumed.set(left, known.add(right));
    return same(left.content, right.content);
  }

  return same;
}
