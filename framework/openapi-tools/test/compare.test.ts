import { describe, expect, it } from "@jest/globals";
import type { Change } from "../src/changes.js";
import { compareDocuments } from "../src/compare.js";
import { PAIRS } from "./_contract-changes.js";
import { createKitchenSink } from "../../core/test/openapi/_kitchen-sink.js";

const show = ({ operation, place, message }: Change) => `${operation} ${place}`.trimEnd() + `: ${message}`;

function kindOf(changes: readonly Change[]): string {
  if (changes.some(({ kind }) => kind === "breaking")) return "breaking";
  return changes.length > 0 ? "addition" : "neutral";
}

describe("two documents", () => {
  it("are compared in many ways", () => {
    expect(PAIRS.length).toBeGreaterThan(150);
    expect(new Set(PAIRS.map(({ title }) => title)).size).toBe(PAIRS.length);
  });

  it.each(PAIRS.map((pair) => [pair.kind, pair.title, pair] as const))("%s: %s", (_kind, _title, pair) => {
    const changes = compareDocuments(pair.before, pair.after);
    expect({ kind: kindOf(changes), changes: changes.map(show) }).toMatchObject({ kind: pair.kind });
    const shown = changes.filter(({ kind }) => kind === pair.kind).map(show);
    for (const expected of pair.changes) expect(shown).toContainEqual(expect.stringContaining(expected));
  });

  it("have a fix for each change that breaks clients, but not for an addition", () => {
    const changes = PAIRS.flatMap(({ before, after }) => compareDocuments(before, after));
    const wrong = changes.filter(({ kind, remedy }) => (kind === "breaking") !== /^[A-Z].*\.$/.test(remedy));
    expect(wrong).toEqual([]);
  });
});

describe("the document of an application that uses every feature", () => {
  it.each([
    ["3.0", "3.0"],
    ["3.1", "3.2"],
    ["3.2", "3.1"],
  ] as const)("in %s has no change to the one in %s", (left, right) => {
    expect(compareDocuments(createKitchenSink(left).openapi(), createKitchenSink(right).openapi()).map(show)).toEqual(
      [],
    );
  });

  it("describes at least as much of a schema in 3.1 as in 3.0", () => {
    const changes = compareDocuments(createKitchenSink("3.0").openapi(), createKitchenSink("3.1").openapi());
    expect(changes.map(show)).toEqual([]);
  });
});

describe("documents that are strange", () => {
  const items = (schema: object, schemas: object) => ({
    openapi: "3.1.1",
    paths: { "/": { get: { responses: { 200: { content: { "application/json": { schema } } } } } } },
    components: { schemas },
  });
  const A = { $ref: "#/components/schemas/A" };

  it.each<[string, object, object]>([
    ["a reference to itself", items(A, { A }), items(A, { A: { type: "string" } })],
    ["a union of itself", items(A, { A: { anyOf: [A, { type: "string" }] } }), items(A, { A: { anyOf: [A] } })],
    [
      "an intersection with itself",
      items(A, { A: { allOf: [A, { type: "string" }] } }),
      items(A, { A: { allOf: [A] } }),
    ],
    [
      "intersections that contain one another",
      items(A, {
        A: { allOf: [{ $ref: "#/components/schemas/B" }, { properties: { a: A } }] },
        B: { properties: { a: { $ref: "#/components/schemas/B" } } },
      }),
      items(A, {
        A: { properties: { a: { allOf: [A, { $ref: "#/components/schemas/B" }] } } },
        B: { properties: { a: A, b: {} } },
      }),
    ],
    ["references that lead nowhere", items(A, {}), items({ $ref: "other.json#/A" }, {})],
    [
      "parts of a wrong type",
      { openapi: "3.0.3", paths: 1 },
      { openapi: "3.0.3", paths: { "/": { get: { parameters: {}, responses: [], security: 1 } } } },
    ],
    ["nothing", {}, { paths: null, webhooks: [] }],
  ])("with %s are compared to an end", (_what, before, after) => {
    expect(Array.isArray(compareDocuments(before, after))).toBe(true);
    expect(Array.isArray(compareDocuments(after, before))).toBe(true);
  });
});
