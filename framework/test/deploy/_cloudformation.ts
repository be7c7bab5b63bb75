/** Compares resources of a CloudFormation template with the specification of AWS, which includes the transform of AWS SAM. */
import { readFileSync } from "node:fs";
import path from "node:path";

import { installOnDemand } from "../support/on-demand.js";

/** A property in the specification of CloudFormation. */
interface Property {
  readonly Required?: boolean;
  readonly PrimitiveType?: string;
  readonly PrimitiveTypes?: readonly string[];
  readonly PrimitiveItemType?: string;
  readonly Type?: string;
  readonly Types?: readonly string[];
  readonly ItemType?: string;
}

interface Specification {
  readonly PropertyTypes: Readonly<Record<string, { readonly Properties?: Readonly<Record<string, Property>> }>>;
  readonly ResourceTypes: Readonly<Record<string, { readonly Properties: Readonly<Record<string, Property>> }>>;
}

/** The properties of an event. */
const EVENT: Property = { Types: ["ApiEvent", "HttpApiEvent", "ScheduleEvent"] };

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function isPrimitive(value: unknown, type: string): boolean {
  if (type === "Json") return isRecord(value) || typeof value === "string";
  if (type === "Boolean") return typeof value === "boolean";
  if (type === "Integer") return Number.isInteger(value);
  if (type === "Double" || type === "Long") return typeof value === "number";
  return typeof value === "string";
}

/** Compares values with the specification of CloudFormation, which includes the transform of AWS SAM. */
class Comparison {
  readonly faults: string[] = [];
  readonly #specification: Specification;
  readonly #resource: string;

  constructor(specification: Specification, resource: string) {
    this.#specification = specification;
    this.#resource = resource;
  }

  properties(value: unknown, expected: Readonly<Record<string, Property>>, at: string): void {
    if (!isRecord(value)) return this.#report(at, "is not an object");
    for (const [name, property] of Object.entries(expected)) {
      if (property.Required === true && !(name in value)) this.#report(`${at}.${name}`, "is missing");
    }
    for (const [name, member] of Object.entries(value)) {
      const property = expected[name];
      if (property === undefined) this.#report(`${at}.${name}`, "is unknown");
      else this.#property(member, property, `${at}.${name}`);
    }
  }

  #property(value: unknown, property: Property, at: string): void {
    const { PrimitiveType, PrimitiveTypes = [], PrimitiveItemType, ItemType, Type, Types = [] } = property;
    const primitives = PrimitiveType === undefined ? PrimitiveTypes : [PrimitiveType];
    if (primitives.some((type) => isPrimitive(value, type))) return;
    const kind = Type ?? (Types.length > 0 ? this.#fitting(value, Types) : undefined);
    if (kind === undefined) return this.#report(at, `is not ${[...primitives, ...Types].join(" or ")}`);
    if (kind !== "List" && kind !== "Map") return this.#named(value, kind, at);
    const isFitting = kind === "List" ? Array.isArray(value) : isRecord(value);
    if (!isFitting) return this.#report(at, `is not a ${kind}`);
    for (const [name, item] of Object.entries(value as object)) {
      const type = PrimitiveItemType ?? ItemType ?? "String";
      if (PrimitiveItemType === undefined && ItemType !== undefined) this.#named(item, type, `${at}.${name}`);
      else if (!isPrimitive(item, type)) this.#report(`${at}.${name}`, `is not ${type}`);
    }
  }

  #typeOf(name: string): Readonly<Record<string, Property>> {
    // The specification requires the properties of an event. AWS SAM does not.
    if (name === "EventSource") return { Type: { Required: true, PrimitiveType: "String" }, Properties: EVENT };
    return this.#specification.PropertyTypes[`${this.#resource}.${name}`]?.Properties ?? {};
  }

  #named(value: unknown, type: string, at: string): void {
    this.properties(value, this.#typeOf(type), at);
  }

  /** The first of several types that has all properties of a value. */
  #fitting(value: unknown, types: readonly string[]): string | undefined {
    if (!isRecord(value)) return undefined;
    return types.find((type) => Object.keys(value).every((name) => name in this.#typeOf(type)));
  }

  #report(at: string, fault: string): void {
    this.faults.push(`${at} ${fault}`);
  }
}

/** The errors of a resource of a CloudFormation template, according to AWS's specification. */
export function findResourceFaults(resource: { readonly Type: string; readonly Properties: unknown }): string[] {
  const folder = installOnDemand("cfnspec", ["@aws-cdk/cfnspec@2.72.1"]);
  const file = path.join(folder, "node_modules/@aws-cdk/cfnspec/spec/specification.json");
  const specification = JSON.parse(readFileSync(file, "utf8")) as Specification;
  const expected = specification.ResourceTypes[resource.Type];
  if (expected === undefined) return [`${resource.Type} is unknown`];
  const comparison = new Comparison(specification, resource.Type);
  comparison.properties(resource.Properties, expected.Properties, "Properties");
  return comparison.faults;
}
