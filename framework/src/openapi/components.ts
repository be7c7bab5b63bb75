import { ConfigurationError } from "../exceptions.js";
import { isObjectSchema, type JSONSchema, resolveRef, unionMembers } from "../schema.js";
import { annotate, type Direction, toDialect } from "./dialect.js";
import type { SchemaObject } from "./types.js";

/** Where a component's name comes from, the strongest first: of two schemas the stronger keeps the name. */
const RANK = Object.freeze({ id: 0, title: 1, own: 2 });

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
  readonly directions: Set<Direction>;
  readonly references: SchemaObject[];
}

/** `https://example.com/schemas/user.json` is `user`, `A user!` is `AUser`; §4.7.7 allows letters, digits and `.-_`. */
function toName(text: string): string {
  const last = /^[a-z][a-z0-9+.-]*:/i.test(text) ? (text.split(/[/#:]/).findLast((part) => part !== "") ?? "") : text;
  const words = last.replace(/\.json$/, "").split(/[^A-Za-z0-9._-]+/);
  const parts = words.filter((word) => word !== "");
  const name = parts.length > 1 ? parts.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("") : parts[0];
  return name ?? "Schema";
}

/** `$id`s that TypeBox gives to recursive schemas by itself, in the order in which they are made. */
const AUTOMATIC_ID = /^T\d+$/;

function isStruct(schema: JSONSchema): boolean {
  return isObjectSchema(schema) || schema.allOf !== undefined || unionMembers(schema) !== undefined;
}

/** The name that a schema gives itself: its `$id`, for a struct its title. */
function ownName(schema: JSONSchema): { base: string; rank: number } | null {
  const id = schema.$id ?? schema["id"];
  if (typeof id === "string" && !AUTOMATIC_ID.test(id)) return { base: toName(id), rank: RANK.id };
  const { title } = schema;
  return title !== undefined && isStruct(schema) ? { base: toName(title), rank: RANK.title } : null;
}

/** One JSON Schema with everything that its references can reach. */
class Source {
  readonly root: JSONSchema;
  readonly direction: Direction;
  readonly place: string;
  readonly byId = new Map<string, JSONSchema>();

  constructor(root: JSONSchema, direction: Direction, place: string) {
    this.root = root;
    this.direction = direction;
    this.place = place;
  }

  note(schema: JSONSchema): void {
    if (typeof schema.$id === "string") this.byId.set(schema.$id, schema);
    for (const [name, definition] of Object.entries(schema.$defs ?? {})) {
      this.byId.set(definition.$id ?? name, definition);
    }
  }

  resolve(ref: string): JSONSchema {
    const target = this.byId.get(ref) ?? resolveRef(ref, this.root);
    if (target) return target;
    throw new ConfigurationError(`The reference ${JSON.stringify(ref)} leads nowhere within its schema.`);
  }
}

/**
 * The schemas of a document. Those with a name are listed once under `components` and referred to from everywhere else.
 * The same struct as input and as output is one component, unless defaults make the two differ: then the input has
 * `Input` after its name.
 */
export class Components {
  readonly #entries: Entry[] = [];
  readonly #bySchema = { input: new Map<JSONSchema, Entry>(), output: new Map<JSONSchema, Entry>() };
  readonly #targets = new Map<object, Entry>();

  /**
   * Converts a schema; its named ones become references, which are complete after `finish`.
   *
   * @param place - Where it is used, for messages.
   * @param root - The schema whose definitions the references of `schema` mean. Defaults to itself.
   */
  convert(schema: JSONSchema, direction: Direction, place: string, root: JSONSchema = schema): SchemaObject {
    const source = new Source(root, direction, place);
    source.note(root);
    const converted = this.#convert(schema, source);
    const own = this.#bySchema[direction].get(schema);
    return own && converted.$ref === undefined ? this.#refer(own) : converted;
  }

  /** Lists a schema of the framework's own; a user's of the same name takes precedence. */
  own(base: string, content: SchemaObject): SchemaObject {
    const known = this.#entries.find((entry) => entry.rank === RANK.own && entry.base === base);
    if (known) return this.#refer(known);
    const entry: Entry = { base, rank: RANK.own, direction: "output", place: "", content, references: [] };
    this.#entries.push(entry);
    return this.#refer(entry);
  }

  readonly #convert = (schema: JSONSchema | boolean, source: Source): SchemaObject => {
    if (typeof schema === "boolean") return schema ? {} : { not: {} };
    source.note(schema);
    if (schema.$ref !== undefined) return this.#convertRef(schema, schema.$ref, source);
    const known = this.#bySchema[source.direction].get(schema);
    if (known) return this.#refer(known);
    const name = ownName(schema);
    return name ? this.#refer(this.#enter(schema, name, source)) : this.#keywords(schema, source);
  };

  #convertRef(schema: JSONSchema, ref: string, source: Source): SchemaObject {
    const target = source.resolve(ref);
    const fallback = {
      base: toName(
        ref
          .split("/")
          .at(-1)
          ?.replace(/^[_#]+/, "") || "Schema",
      ),
      rank: RANK.title,
    };
    const known = this.#bySchema[source.direction].get(target);
    const entry = known ?? this.#enter(target, ownName(target) ?? fallback, source);
    const { description, default: value } = schema;
    return annotate(this.#refer(entry), {
      ...(description === undefined ? {} : { description }),
      ...(value === undefined ? {} : { default: value }),
    });
  }

  #keywords(schema: JSONSchema, source: Source): SchemaObject {
    return toDialect(schema, (inner) => this.#convert(inner, source), source.direction);
  }

  #enter(schema: JSONSchema, name: { base: string; rank: number }, source: Source): Entry {
    const { direction, place } = source;
    const entry: Entry = { ...name, direction, place, content: null, references: [] };
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
   * Names the components, completes every reference, and gives the components in the order of their names.
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
    for (const group of groups.values()) {
      group.sort((left, right) => precedence(left) - precedence(right));
      named.set((group[0] as Component).first.base, group[0] as Component);
    }
    for (const group of groups.values()) {
      for (const component of group.slice(1)) named.set(freeName(component, named), component);
    }
    const schemas = [...named].toSorted(([left], [right]) => (left < right ? -1 : 1));
    for (const [name, { references }] of schemas) {
      for (const reference of references) reference.$ref = `#/components/schemas/${name}`;
    }
    return Object.fromEntries(schemas.map(([name, { first }]) => [name, first.content as SchemaObject]));
  }

  #addTo(group: Component[], entry: Entry): void {
    const twin = group.find(({ first }) => this.#same(first.content, entry.content, new Map()));
    if (twin) {
      twin.directions.add(entry.direction);
      twin.references.push(...entry.references);
      return;
    }
    const rival = group.find(({ first, directions }) => first.rank === RANK.id && directions.has(entry.direction));
    if (entry.rank === RANK.id && rival) {
      throw new ConfigurationError(
        `${entry.place}: the schema with the $id ${JSON.stringify(entry.base)} is another one than that of ` +
          `${rival.first.place}. Give each an $id of its own.`,
      );
    }
    group.push({ first: entry, directions: new Set([entry.direction]), references: [...entry.references] });
  }

  /** Whether two schemas say the same; references are followed, and a pair that is being compared counts as equal. */
  #same(left: unknown, right: unknown, assumed: Map<Entry, Set<Entry>>): boolean {
    if (left === right) return true;
    if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
    const [leftEntry, rightEntry] = [this.#targets.get(left), this.#targets.get(right)];
    if (leftEntry || rightEntry) {
      if (!leftEntry || !rightEntry || leftEntry.base !== rightEntry.base) return false;
      if (leftEntry === rightEntry || assumed.get(leftEntry)?.has(rightEntry)) return true;
      assumed.set(leftEntry, (assumed.get(leftEntry) ?? new Set()).add(rightEntry));
      return this.#same(leftEntry.content, rightEntry.content, assumed);
    }
    const keys = Object.keys(left);
    return (
      keys.length === Object.keys(right).length &&
      keys.every(
        (key) =>
          Object.hasOwn(right, key) &&
          this.#same((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key], assumed),
      )
    );
  }
}

function isInputOnly({ directions }: Component): boolean {
  return !directions.has("output");
}

/** Which of several gets the plain name: what a client receives first, the framework's own last. */
function precedence(component: Component): number {
  const { rank } = component.first;
  return rank === RANK.own ? 4 : (isInputOnly(component) ? 2 : 0) + rank;
}

/** A name that nobody has: with `Input` for an input, and a number where that is not enough. */
function freeName(component: Component, taken: ReadonlyMap<string, unknown>): string {
  const base = isInputOnly(component) ? `${component.first.base}Input` : component.first.base;
  let name = base;
  for (let number = 2; taken.has(name); number++) name = `${base}${number}`;
  return name;
}
