/** The work of checking scalars, counted in steps of their patterns. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { type Schema, t } from "../../src/index.js";
import { Faults } from "../../src/schema/faults.js";
import { compileSchema } from "../../src/schema/schema.js";
import { countPatternSteps } from "../../../test/support/pattern-steps.js";

const FORMATS =
  "date-time date time duration email hostname ipv4 ipv6 uri url uri-reference uuid json-pointer regex byte";

const SCHEMAS: readonly (readonly [name: string, schema: Schema])[] = [
  ...FORMATS.split(" ").map((format) => [format, t.String({ format })] as const),
  ["integer", t.Integer()],
  ["number", t.Number()],
  ["boolean", t.Boolean()],
  ["Date", t.Date()],
];

/** Every character that a pattern treats in its own way, and one of each class. */
const CHARACTERS = Array.from("a0F_ .-+:/?#@[]%~=,!PTYZ1(\\\n\u00e4\u{1f600}");

/** Beginnings that lead into each part of a pattern, and ends that make it go back. */
const BEGINNINGS = ["", "//", "a:", "http://", "http://[", "P", "PT1", "a@", "1.", "1e", "2024-01-01T", "12:00:00."];
const ENDS = ["", "!", "##", "]", "@", "\n"];

/** The largest share of steps that one character may cost: a pattern goes back a few times from each. */
const STEPS_PER_CHARACTER = 40;

function read(schema: Schema, text: string): () => void {
  const compiled = compileSchema(schema);
  const coerce = compiled.coerce();
  return () => {
    const faults = new Faults();
    const value = coerce?.isList === false ? coerce.convert(text, faults) : text;
    if (faults.count === 0) void compiled.check(value, faults);
  };
}

function tooExpensive(schema: Schema, texts: Iterable<string>): string[] {
  const found: string[] = [];
  for (const text of texts) {
    const most = STEPS_PER_CHARACTER * (text.length + 50);
    if (countPatternSteps(read(schema, text), most + 1).steps > most) found.push(text.slice(0, 40));
  }
  return found;
}

function* repeated(): Iterable<string> {
  for (const character of CHARACTERS) yield character.repeat(4096 / character.length);
}

function* pairs(): Iterable<string> {
  for (const first of CHARACTERS) for (const second of CHARACTERS) yield (first + second).repeat(128);
}

function* framed(): Iterable<string> {
  for (const beginning of BEGINNINGS) {
    for (const end of ENDS) for (const character of CHARACTERS) yield beginning + character.repeat(256) + end;
  }
}

describe.each(SCHEMAS)("%s", (_name, schema) => {
  it("takes a number of steps in proportion to 4 KB of one character", () => {
    expect(tooExpensive(schema, repeated())).toEqual([]);
  });

  it("takes a number of steps in proportion to a repeated pair of characters", () => {
    expect(tooExpensive(schema, pairs())).toEqual([]);
  });

  it("takes a number of steps in proportion to a repeated character between a beginning and an end", () => {
    expect(tooExpensive(schema, framed())).toEqual([]);
  });
});

it("counts the steps of every pattern in the module", () => {
  const source = readFileSync(new URL("../../src/schema/scalars.ts", import.meta.url), "utf8");
  const written = Array.from(source.matchAll(/^const [A-Z_0-9]+ =\s*\/(.+)\/i?;$/gm), ([, pattern = ""]) => pattern);
  expect(written.length).toBeGreaterThan(10);
  const texts = [
    "http://u@a:1/%41",
    "a@b",
    "1",
    "2024-01-01T12:00:00Z",
    "P1D",
    "00000000-0000-0000-0000-000000000000",
    "1.2.3.4",
    "/~0",
    "AAAA",
  ];
  const used = SCHEMAS.flatMap(([, schema]) =>
    texts.flatMap((text) => [...countPatternSteps(read(schema, text)).patterns]),
  );
  expect(written.filter((pattern) => !used.includes(pattern))).toEqual([]);
});

it("finds a pattern that takes the square of the length of its text", () => {
  const { steps } = countPatternSteps(() => void /^a*a*$/.test(`${"a".repeat(1000)}!`));
  expect(steps).toBeGreaterThan(400_000);
});
