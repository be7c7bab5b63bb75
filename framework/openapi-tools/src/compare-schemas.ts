/** Changes of schemas that break clients. @module */
import type { Place } from "./changes.js";
import { canonical, type Json, listOf, objectOf, resolve, textsOf } from "./json-parts.js";
import { constraints, LOWER, type Shape, shapesOf, UPPER } from "./shapes.js";

/** A member of a struct: a property, or a parameter of an operation. */
export interface Member {
  /** The keys of its place. Defaults to its name. */
  readonly at?: readonly string[];
  readonly schema: unknown;
  readonly isRequired: boolean;
}

/** The deepest place in a schema that is compared. Structs that contain themselves end earlier. */
const MAX_DEPTH = 40;

/** Keywords with a separate comparison, and those that a type implies. */
const COMPARED = new Set(
  [...LOWER, ...UPPER, "type", "enum", "properties", "required", "items", "prefixItems", "additionalProperties"].concat(
    ["uniqueItems", "unevaluatedProperties"],
  ),
);

/** Keywords of one type: they have no meaning for another type. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  format: ["string", "number"],
  ...ownedBy("string", "minLength maxLength pattern contentEncoding contentMediaType"),
  ...ownedBy("number", "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
  ...ownedBy(
    "array",
    "minItems maxItems items prefixItems uniqueItems contains minContains maxContains unevaluatedItems",
  ),
  ...ownedBy("object", "properties required additionalProperties patternProperties propertyNames minProperties"),
  ...ownedBy("object", "maxProperties dependentRequired dependentSchemas unevaluatedProperties"),
};

function ownedBy(type: string, keywords: string): Record<string, readonly string[]> {
  return Object.fromEntries(keywords.split(" ").map((keyword) => [keyword, [type]]));
}

/** Compares schemas of two documents, by the values that they allow. */
export class SchemaComparison {
  readonly #before: Json;
  readonly #after: Json;
  /** Pairs that were compared, or are being compared, in one operation and for one side. */
  readonly #compared = new Set<string>();

  constructor(before: Json, after: Json) {
    this.#before = before;
    this.#after = after;
  }

  compare(before: unknown, after: unknown, place: Place): void {
    const pair = canonical([place.operation, place.side, before, after]);
    const isReferring = pair.includes('"$ref"');
    if (place.path.length > MAX_DEPTH || (isReferring && this.#compared.has(pair))) return;
    this.#compared.add(pair);
    this.#compareShapes(shapesOf(before, this.#before), shapesOf(after, this.#after), place);
  }

  #compareShapes(before: readonly Shape[], after: readonly Shape[], place: Place): void {
    const [hadAny, hasAny] = [before.some(isAny), after.some(isAny)];
    if (hadAny !== hasAny) {
      const names = nameOf(hadAny ? after : before);
      if (hadAny) place.report("narrowed", `any value fitted, now ${names}`);
      else place.report("widened", `any value fits now, not only ${names}`);
      return;
    }
    const { pairs, gone, added } = matchShapes(before, after);
    for (const shape of gone) place.report("narrowed", `${nameOf([shape])} no longer fits`);
    for (const shape of added) place.report("widened", `${nameOf([shape])} fits as well`);
    const isUnion = pairs.filter(([shape]) => shape.type === "object").length > 1;
    for (const [left, right] of pairs) {
      this.#compareShape(left, right, isUnion && left.ref !== "" ? place.at(nameOf([left])) : place);
    }
  }

  #compareShape(before: Shape, after: Shape, place: Place): void {
    if (before.isInteger !== after.isInteger) {
      if (after.isInteger) place.report("narrowed", "a number was allowed, now only an integer");
      else place.report("widened", "a number with a fraction fits, not only an integer");
    }
    compareValues(before.values, after.values, place);
    const [left, right] = [before.keywords, after.keywords];
    const isRelevant = (keyword: string) => before.type === "any" || OWNERS[keyword]?.includes(before.type) !== false;
    for (const keyword of LOWER.filter(isRelevant)) compareBound(keyword, left, right, place, 1);
    for (const keyword of UPPER.filter(isRelevant)) compareBound(keyword, left, right, place, -1);
    compareOthers(left, right, place, isRelevant);
    if (before.type === "array") this.#compareItems(left, right, place);
    if (before.type === "object") this.#compareProperties(left, right, place);
  }

  #compareItems(before: Json, after: Json, place: Place): void {
    if (before["uniqueItems"] !== true && after["uniqueItems"] === true)
      place.report("narrowed", "items must be unique");
    if (before["uniqueItems"] === true && after["uniqueItems"] !== true)
      place.report("widened", "items may be repeated");
    const positions = Math.max(listOf(before["prefixItems"]).length, listOf(after["prefixItems"]).length);
    for (let index = 0; index < positions; index++) {
      this.compare(itemAt(before, index), itemAt(after, index), place.at(`${index}`));
    }
    // A tuple has no items after its members.
    const isOpen = [before, after].some(({ maxItems }) => typeof maxItems !== "number" || maxItems > positions);
    if (isOpen) this.compare(itemAt(before, Infinity), itemAt(after, Infinity), place.at("[]"));
  }

  #compareProperties(before: Json, after: Json, place: Place): void {
    this.compareMembers(
      membersOf(before, this.#before, place),
      membersOf(after, this.#after, place),
      place,
      "property",
    );
    this.#compareRest(before, after, place);
  }

  /** Compares the members of a struct, and the parameters of an operation. */
  compareMembers(
    before: ReadonlyMap<string, Member>,
    after: ReadonlyMap<string, Member>,
    place: Place,
    noun: string,
  ): void {
    for (const [name, member] of after) {
      const inner = place.at(...(member.at ?? [name]));
      const known = before.get(name);
      if (known) this.#compareMember(known, member, inner, noun);
      else if (member.isRequired && place.side === "request")
        inner.report("required-member-added", `the ${noun} is new, and required`);
      else inner.report("member-added", `the ${noun} is new`);
    }
    for (const [name, member] of before) {
      if (!after.has(name)) place.at(...(member.at ?? [name])).report("member-removed", `the ${noun} is missing`);
    }
  }

  #compareMember(before: Member, after: Member, place: Place, noun: string): void {
    if (!before.isRequired && after.isRequired) place.report("member-required", `the ${noun} is required now`);
    if (before.isRequired && !after.isRequired) place.report("member-optional", `the ${noun} is optional now`);
    this.compare(before.schema, after.schema, place);
  }

  /** Keys that the schema does not name. A response has no such properties unless a schema describes them. */
  #compareRest(before: Json, after: Json, place: Place): void {
    const [left, right] = [restOf(before), restOf(after)];
    if (typeof left === "boolean" && typeof right === "boolean") {
      if (place.side === "response" || left === right) return;
      if (left) place.report("narrowed", "further properties are refused");
      else place.report("widened", "further properties are allowed");
    } else this.compare(left, right, place.at("*"));
  }
}

function itemAt({ prefixItems, items = true }: Json, index: number): unknown {
  return listOf(prefixItems)[index] ?? items;
}

function isAny({ type, values }: Shape): boolean {
  return type === "any" && values === null;
}

function restOf({ additionalProperties, unevaluatedProperties }: Json): unknown {
  return additionalProperties ?? unevaluatedProperties ?? true;
}

/** The properties that travel: a `readOnly` one is not sent to the application, a `writeOnly` one not by it. */
function membersOf(schema: Json, document: Json, { side }: Place): Map<string, Member> {
  const required = new Set(textsOf(schema["required"]));
  const hidden = side === "request" ? "readOnly" : "writeOnly";
  const named = Object.entries(objectOf(schema["properties"])).filter(
    ([, property]) => resolve(property, document)[hidden] !== true,
  );
  return new Map(named.map(([name, property]) => [name, { schema: property, isRequired: required.has(name) }]));
}

/** The shapes of both sides that mean the same alternative, and those without a counterpart. */
function matchShapes(
  before: readonly Shape[],
  after: readonly Shape[],
): { pairs: [Shape, Shape][]; gone: Shape[]; added: Shape[] } {
  const pairs: [Shape, Shape][] = [];
  const [gone, added] = [new Set(before), new Set(after)];
  for (const isSame of [sameTag, sameComponent, sameKeywords, sameType]) {
    for (const left of Array.from(gone)) {
      const right = [...added].find((shape) => shape.type === left.type && isSame(left, shape));
      if (!right) continue;
      pairs.push([left, right]);
      gone.delete(left);
      added.delete(right);
    }
  }
  return { pairs, gone: [...gone], added: [...added] };
}

function sameTag(left: Shape, right: Shape): boolean {
  const tag = tagOf(left);
  return tag !== "{}" && tag === tagOf(right);
}

function sameComponent(left: Shape, right: Shape): boolean {
  return left.ref !== "" && left.ref === right.ref;
}

function sameKeywords(left: Shape, right: Shape): boolean {
  return canonical(constraints(left.keywords)) === canonical(constraints(right.keywords));
}

/** The last resort. Structs whose tags differ are different alternatives. */
function sameType(left: Shape, right: Shape): boolean {
  return left.type !== "object" || tagOf(left) === "{}" || tagOf(right) === "{}";
}

/** The properties that are fixed to one value, which tell the members of a union apart. */
function tagOf({ type, keywords }: Shape): string {
  if (type !== "object") return "{}";
  const required = new Set(textsOf(keywords["required"]));
  const fixed = Object.entries(objectOf(keywords["properties"])).flatMap(([name, property]) => {
    const { const: value, enum: values } = objectOf(property);
    const only = value === undefined && listOf(values).length === 1 ? listOf(values)[0] : value;
    return only !== undefined && required.has(name) ? [[name, only] as const] : [];
  });
  return canonical(Object.fromEntries(fixed));
}

const TYPE_NAMES: Readonly<Record<Shape["type"], string>> = {
  any: "any value",
  null: "null",
  boolean: "a boolean",
  number: "a number",
  string: "a text",
  array: "a list",
  object: "an object",
};

/** `a text`, `"a", "b"`, `Cat`. */
function nameOf(shapes: readonly Shape[]): string {
  if (shapes.length === 0) return "nothing";
  const names = shapes.map(({ type, isInteger, values, ref, keywords }) => {
    if (values) return listValues([...values]);
    if (ref !== "") return ref.split("/").at(-1) ?? ref;
    if (isInteger) return "an integer";
    const tag = tagOf({ type, isInteger, values, ref, keywords });
    if (tag !== "{}") return `an object with ${tag}`;
    return TYPE_NAMES[type];
  });
  return [...new Set(names)].join(" or ");
}

/** Values that a message lists at most. */
const MAX_SHOWN = 8;

function listValues(values: readonly string[]): string {
  const shown = values.slice(0, MAX_SHOWN);
  return [...shown, ...(values.length > MAX_SHOWN ? ["…"] : [])].join(", ");
}

function compareValues(before: ReadonlySet<string> | null, after: ReadonlySet<string> | null, place: Place): void {
  if (!before && after) place.report("narrowed", `only ${listValues([...after])} fits now`);
  if (before && !after) place.report("widened", `other values fit than ${listValues([...before])}`);
  if (!before || !after) return;
  const gone = [...before].filter((value) => !after.has(value));
  const added = [...after].filter((value) => !before.has(value));
  if (gone.length > 0) place.report("narrowed", `${listValues(gone)} no longer fits`);
  if (added.length > 0) place.report("widened", `${listValues(added)} fits as well`);
}

/** @param sign - 1 for a lower bound, -1 for an upper one. */
function compareBound(keyword: string, before: Json, after: Json, place: Place, sign: 1 | -1): void {
  const [left, right] = [before[keyword], after[keyword]].map((value) =>
    typeof value === "number" ? value * sign : -Infinity,
  ) as [number, number];
  if (left === right) return;
  const change = `${keyword} is ${show(after[keyword])}, it was ${show(before[keyword])}`;
  place.report(right > left ? "narrowed" : "widened", change);
}

function show(value: unknown): string {
  return value === undefined ? "not set" : JSON.stringify(value);
}

/** Keywords that can only be equal or not: another value of one both narrows and widens. */
function compareOthers(before: Json, after: Json, place: Place, isRelevant: (keyword: string) => boolean): void {
  const [left, right] = [constraints(before), constraints(after)];
  const keywords = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  for (const keyword of keywords) {
    if (COMPARED.has(keyword) || !isRelevant(keyword) || canonical(left[keyword]) === canonical(right[keyword]))
      continue;
    const change = `${keyword} is ${show(right[keyword])}, it was ${show(left[keyword])}`;
    place.report(effectOf(keyword, left[keyword], right[keyword], place), change);
  }
}

function effectOf(keyword: string, before: unknown, after: unknown, { side }: Place): "narrowed" | "widened" {
  if (before === undefined) return "narrowed";
  if (after === undefined) return "widened";
  const isMultiple = keyword === "multipleOf" ? multipleOf(before, after) : null;
  if (isMultiple !== null) return isMultiple ? "narrowed" : "widened";
  return side === "request" ? "narrowed" : "widened";
}

/** `true` where every multiple of the new number is one of the old, `false` the other way round. */
function multipleOf(before: unknown, after: unknown): boolean | null {
  if (typeof before !== "number" || typeof after !== "number") return null;
  if (Number.isInteger(after / before)) return true;
  return Number.isInteger(before / after) ? false : null;
}
