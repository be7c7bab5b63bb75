/** Names that the document makes up: of operations, summaries and components. @module */
import { configurationError } from "../common/exceptions.js";
import type { PathPattern } from "../routing/path-pattern.js";
import { isObjectSchema, type JSONSchema, pointerKey, unionMembers } from "../schema/json-schema.js";
import { type DocumentedRoute, placeOf } from "./route.js";

/** A struct that is listed under a title. */
interface Titled {
  /** The name that it asks for. */
  base: string;
  /** The components that it refers to, by the names that they ask for. */
  readonly parts: ReadonlySet<string>;
}

/**
 * Names object schemas with the same title after the part that distinguishes them: the `Page` of users and the `Page`
 * of items are `UserPage` and `ItemPage`. A function that creates schemas uses the same title for all.
 *
 * @param group - Different structs that ask for the same name.
 */
export function nameGenerics(group: readonly Titled[]): void {
  const [first, ...others] = group;
  const shared = [...(first?.parts ?? [])].filter((part) => others.every(({ parts }) => parts.has(part)));
  const own = group.map(({ parts }) => [...parts].filter((part) => !shared.includes(part)));
  if (!own.every((parts) => parts.length === 1)) return;
  for (const [index, titled] of group.entries()) titled.base = `${own[index]?.[0]}${titled.base}`;
}

/** `readItem`, `read_item` and `HTTPStatus2` are `read item`, `read item` and `http status2`. */
function wordsOf(name: string): string[] {
  // Most are a word already, and the rules below took a sixth of the time for a document.
  if (/^[a-z0-9]+$/.test(name)) return [name];
  return name
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
}

/** The text with its first letter in upper case. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `user_tree` and `userTree` are `UserTree`. */
export function pascalCase(name: string): string {
  return wordsOf(name).map(capitalize).join("") || "Schema";
}

/** The name, with a number if it is in use. */
export function freeName(base: string, taken: { has(name: string): boolean }): string {
  let name = base;
  for (let number = 2; taken.has(name); number++) name = `${base}${number}`;
  return name;
}

/** `GET /users/{id}/posts` is `get users by id posts`. */
function wordsOfRoute(method: string, { segments }: PathPattern): string[] {
  const words = segments.flatMap(({ text, isParam }) => (isParam ? ["by", ...wordsOf(text)] : wordsOf(text)));
  return [method.toLowerCase(), ...(words.length > 0 ? words : ["root"])];
}

/** The operation's name by method and path: `getUsersByIdPosts`. It does not depend on other registrations. */
function operationIdOf(method: string, pattern: PathPattern): string {
  return camelCase(wordsOfRoute(method, pattern));
}

function camelCase(words: readonly string[]): string {
  return words.map((word, index) => (index === 0 ? word : capitalize(word))).join("");
}

/** Names that do not describe the handler. */
const NO_NAMES = new Set(["", "anonymous", "default", "handler"]);

/** One line: the handler's name in words, or else the route's, or else method and path in words. */
export function summaryOf({ record, pattern }: DocumentedRoute): string {
  const name = record.handler.name.replace(/^bound /, "");
  const words = wordsOf(NO_NAMES.has(name) ? (record.metadata.name ?? "") : name);
  return capitalize((words.length > 0 ? words : wordsOfRoute(record.method, pattern)).join(" "));
}

/** Makes the name of an operation in generated clients. Each must be unique in the document. */
export type GenerateOperationId = (route: {
  /** In upper case. */
  readonly method: string;
  /** The whole pattern. */
  readonly path: string;
  /** The route's name: its option, its export in a module of routes, or its handler's name. `""` for an anonymous one. */
  readonly name: string;
  readonly tags: readonly string[];
}) => string;

/** Assigns each operation a unique name. */
export class OperationIds {
  readonly #generate: GenerateOperationId | undefined;
  readonly #places = new Map<string, string>();

  constructor(generate: GenerateOperationId | undefined) {
    this.#generate = generate;
  }

  /** @throws ConfigurationError when a chosen name is taken. One of method and path gets a number instead. */
  of(route: DocumentedRoute): string {
    const { method, metadata } = route.record;
    const { name = "" } = metadata;
    const isFree = /^\w+$/.test(name) && !this.#places.has(name);
    return this.take(this.#chosen(route), isFree ? name : operationIdOf(method, route.pattern), placeOf(route));
  }

  /** The name of a webhook: `POST order.shipped` is `postOrderShipped`. */
  ofWebhook(route: DocumentedRoute): string {
    const { method, path } = route.record;
    return this.take(this.#chosen(route), camelCase([method.toLowerCase(), ...wordsOf(path)]), placeOf(route));
  }

  #chosen({ record: { method, path, handler, metadata } }: DocumentedRoute): string | undefined {
    const { operationId, name = handler.name, tags = [] } = metadata;
    return operationId ?? this.#generate?.({ method, path, name, tags });
  }

  /**
   * Takes a name.
   *
   * @param chosen - The explicit name, or `undefined`.
   * @param base - The default name, with a number if it is in use.
   * @throws ConfigurationError when the chosen name is taken.
   */
  take(chosen: string | undefined, base: string, place: string): string {
    const id = chosen ?? freeName(base, this.#places);
    const rival = this.#places.get(id);
    if (rival !== undefined) throw configurationError("TSGI_DUPLICATE_OPERATION_ID", id, rival);
    this.#places.set(id, place);
    return id;
  }
}

/** Sources of a component's name, the strongest first: of two schemas the stronger keeps the name. */
export const RANK = Object.freeze({ id: 0, title: 1, own: 2 });

/** `https://example.com/schemas/user.json` is `user`, `A user!` is `AUser`; §4.7.7 allows letters, digits and `.-_`. */
function toName(text: string): string {
  const last = /^[a-z][a-z0-9+.-]*:/i.test(text) ? (text.split(/[/#:]/).findLast((part) => part !== "") ?? "") : text;
  const words = last.replace(/\.json$/, "").split(/[^A-Za-z0-9._-]+/);
  const parts = words.filter((word) => word !== "");
  const name = parts.length > 1 ? parts.map(capitalize).join("") : parts[0];
  return name ?? "Schema";
}

/**
 * Names that the libraries generate from counters, which have no meaning for a reader and change between versions:
 * TypeBox's `T0`, Zod's `__schema0`, Valibot's `0`, ArkType's `intersection232`.
 */
const MADE_UP =
  /^(?:T|__schema|alias|divisor|domain|exactLength|intersection|max|maxLength|min|minLength|morph|pattern|predicate|proto|sequence|structure|union|unit)?\d+$/;

function isStruct(schema: JSONSchema): boolean {
  return isObjectSchema(schema) || schema.allOf !== undefined || unionMembers(schema) !== undefined;
}

/** The name that a schema asks for. */
export interface ComponentName {
  readonly base: string;
  readonly rank: number;
}

/** The name of a schema: its `$id` (Valibot writes `id`), or the title of an object schema. */
export function ownName(schema: JSONSchema): ComponentName | null {
  const id = schema.$id ?? schema["id"];
  if (typeof id === "string" && !MADE_UP.test(id)) return { base: toName(id), rank: RANK.id };
  const { title } = schema;
  return title !== undefined && isStruct(schema) ? { base: toName(title), rank: RANK.title } : null;
}

/**
 * The name of a reference's target. It needs one, for it may contain itself.
 *
 * @param hint - Its use, if it has no name.
 */
export function referredName(ref: string, target: JSONSchema, hint: string): ComponentName {
  const definition = /^(?:#\/(?:\$defs|definitions)\/)?([^#/]+)$/.exec(ref)?.[1];
  if (definition !== undefined && !MADE_UP.test(definition)) {
    return { base: toName(pointerKey(definition)), rank: RANK.id };
  }
  return ownName(target) ?? { base: hint, rank: RANK.title };
}
