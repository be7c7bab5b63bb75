/** Features in combination: covering arrays of requests and of WebSockets, compared with reference models. */
import { afterAll, afterEach, describe, expect, it } from "@jest/globals";
import { ConfigurationError } from "../../core/src/index.js";
import * as fc from "../support/fast-check.js";
import { IS_SLOW } from "../support/on-demand.js";
import { build } from "./_pairs-app.js";
import { Levels, makeArray, type Row } from "./_pairs-array.js";
import { differences, run } from "./_pairs-compare.js";
import { type Driver, DRIVERS, makeDriver } from "./_pairs-drivers.js";
import { type Combination, SCHEMAS, spaceFor } from "./_pairs-factors.js";
import { PREFIXES } from "./_pairs-model.js";
import { refusalOf } from "./_pairs-model-parameters.js";
import { buildSocket } from "./_pairs-socket-app.js";
import { SocketCaller } from "./_pairs-socket-client.js";
import { socketDifferences } from "./_pairs-socket-compare.js";
import { type SocketCombination, socketSpaceFor } from "./_pairs-socket-factors.js";
import { Trace } from "./_pairs-trace.js";

/** Combinations that differed once. A failure prints its own in this form. */
const REGRESSIONS: readonly Partial<Combination>[] = [];
const SOCKET_REGRESSIONS: readonly Partial<SocketCombination>[] = [];

const SEED = 20_251;
/** Factors of which every three levels are covered with `TSGI_SLOW`. */
const MAIN = ["guard", "credentials", "dependency", "result", "stream", "errorHandler", "mount"] as const;
const SOCKET_MAIN = ["guard", "credentials", "dependency", "opening", "receives", "sends", "end"] as const;

const slowly = IS_SLOW ? it : it.skip;

const levels = new Levels(spaceFor(DRIVERS));
const rows = await makeArray(spaceFor(DRIVERS), { seed: SEED, threeWise: IS_SLOW ? MAIN : [] });
const drivers = new Map<Combination["driver"], Driver>(DRIVERS.map((name) => [name, makeDriver(name)]));

const differencesOf = (c: Combination): Promise<string[]> =>
  orError(async () => {
    const driver = drivers.get(c.driver);
    if (driver === undefined) throw new Error(`There is no driver ${c.driver}.`);
    return differences(c, await run(c, driver));
  });

const socketSpace = socketSpaceFor(DRIVERS.includes("uWebSockets.js"));
const socketLevels = new Levels(socketSpace);
const socketRows = await makeArray(socketSpace, { seed: SEED, threeWise: IS_SLOW ? SOCKET_MAIN : [] });
const sockets = new SocketCaller();

const socketDifferencesOf = (c: SocketCombination): Promise<string[]> =>
  orError(async () => {
    const trace = new Trace();
    const seen = await sockets.call(c, buildSocket(c, trace));
    return socketDifferences(c, seen, trace);
  });

/** An error of registration or of the client is a difference, too. */
async function orError(find: () => Promise<string[]>): Promise<string[]> {
  try {
    return await find();
  } catch (error) {
    return [String(error)];
  }
}

afterAll(async () => {
  await Promise.all([...drivers.values()].map((driver) => driver.close()));
  await sockets[Symbol.asyncDispose]();
});

/** Rows that a report shows, as simple as they can be. */
const MOST_SHOWN = 10;

/** The row that runs, to be shown if it never ends. */
let running: Row | null = null;

afterEach(() => {
  if (running !== null) process.stderr.write(`This combination does not end: ${textOf(running)}\n`);
  running = null;
});

/** A row in the form of `REGRESSIONS`. */
function textOf(row: object): string {
  const pairs = Object.entries(row).map(([factor, level]) => `${factor}: ${JSON.stringify(level)}`);
  return `{ ${pairs.join(", ")} },`;
}

/** The rows that differ, each in the form of `REGRESSIONS` and as simple as it can be, with its differences. */
async function report<C extends Row>(
  given: readonly C[],
  of: Levels<C>,
  findDifferences: (row: C) => Promise<string[]>,
): Promise<string[]> {
  const find = async (row: C): Promise<string[]> => {
    running = row;
    const found = await findDifferences(row);
    running = null;
    return found;
  };
  const differs = async (row: C) => (await find(row)).length > 0;
  const reports = new Set<string>();
  let count = 0;
  for (const row of given) {
    if (!(await differs(row))) continue;
    count++;
    if (reports.size >= MOST_SHOWN) continue;
    const simple = await of.simplify(row, differs);
    const found = await find(of.simplest(simple));
    reports.add(`${textOf(simple)} // ${found.join("; ")}`);
  }
  return count === 0 ? [] : [`${count} of ${given.length} combinations differ`, ...reports];
}

/** The number of tuples that can be in a row, and the ones that no row has. A tuple of a row is possible. */
function coverage<C extends Row>(given: readonly C[], of: Levels<C>, size: number, factors?: readonly string[]) {
  const shown = of.shownBy(given, size, factors);
  const wanted = [...of.tuples(size, factors)].filter(({ ends }) => ends <= 4 - size);
  const others = wanted.filter(({ text }) => !shown.has(text));
  const missing = others.filter(({ choices }) => of.isPossible(choices)).map(({ text }) => text);
  return { possible: wanted.length - others.length + missing.length, missing };
}

describe("an array of combinations", () => {
  it.each([
    ["requests", rows, levels],
    ["WebSockets", socketRows, socketLevels],
  ] as const)("has every pair of levels of %s that is possible", (what, given, of) => {
    const { possible, missing } = coverage<Row>(given, of as unknown as Levels<Row>, 2);
    expect(missing).toEqual([]);
    process.stderr.write(
      `${given.length} combinations of ${of.factors.length} features of ${what}: ${possible} pairs.\n`,
    );
  });

  slowly("has every three levels of the main factors", () => {
    expect(coverage(rows, levels, 3, MAIN).missing).toEqual([]);
    expect(coverage(socketRows, socketLevels, 3, SOCKET_MAIN).missing).toEqual([]);
  });

  it("is the same for the same seed", async () => {
    expect(await makeArray(socketSpace, { seed: SEED, threeWise: IS_SLOW ? SOCKET_MAIN : [] })).toEqual(socketRows);
  });
});

describe("features in combination", () => {
  it.each(DRIVERS)("match the model, by %s", async (name) => {
    const given = rows.filter(({ driver }) => driver === name);
    expect(await report(given, levels, differencesOf)).toEqual([]);
  });

  it("match the model in cases that failed before", async () => {
    const given = REGRESSIONS.map((row) => levels.simplest(row));
    expect(await report(given, levels, differencesOf)).toEqual([]);
  });

  slowly("match the model, chosen at random", async () => {
    const numbers = fc.array(fc.nat(9999), { minLength: levels.factors.length, maxLength: levels.factors.length });
    await fc.assert(
      fc.asyncProperty(numbers, async (chosen) => {
        expect(await report([levels.choose(chosen)], levels, differencesOf)).toEqual([]);
      }),
      { numRuns: 5000 },
    );
  });
});

/** Schemas that registration does not reject yet: they are not checked. */
const KNOWN_FILES: readonly Combination["schema"][] = ["format", "enum", "union"];

describe("features of WebSockets in combination", () => {
  it.each(socketSpace.ordinary.driver)("match the model, by %s", async (name) => {
    const given = socketRows.filter((c) => c.driver === name);
    expect(await report(given, socketLevels, socketDifferencesOf)).toEqual([]);
  });

  it("match the model in cases that failed before", async () => {
    const given = SOCKET_REGRESSIONS.map((row) => socketLevels.simplest(row));
    expect(await report(given, socketLevels, socketDifferencesOf)).toEqual([]);
  });

  slowly("match the model, chosen at random", async () => {
    const { length } = socketLevels.factors;
    const numbers = fc.array(fc.nat(9999), { minLength: length, maxLength: length });
    await fc.assert(
      fc.asyncProperty(numbers, async (chosen) => {
        const c = socketLevels.choose(chosen);
        expect(await report([c], socketLevels, socketDifferencesOf)).toEqual([]);
      }),
      { numRuns: 3000 },
    );
  });
});

/** Combinations that no row has, because registration throws. */
const REFUSED: readonly Partial<Combination>[] = [
  { credentials: "optional, no scheme" },
  { dependency: "outlives another" },
  { dependency: "app, of a request" },
  { guard: "reads a body", parameter: "form" },
  { guard: "reads a body", parameter: "file" },
  { handler: "in a process", stream: "jsonl" },
  { handler: "in a process", parameter: "file" },
  { handler: "in a process", task: "one" },
  { handler: "in a process", draft: "header and cookie" },
  ...levels.ordinary("parameter").flatMap((parameter) =>
    levels
      .ordinary("schema")
      .map((schema) => ({ parameter, schema }) as Pick<Combination, "parameter" | "schema">)
      .filter((row) => row.parameter !== "none" && !SCHEMAS[row.parameter].includes(row.schema)),
  ),
];

describe("registration", () => {
  const cases = REFUSED.flatMap((row) => {
    const c = levels.simplest({ method: "POST", ...row });
    const code = refusalOf(c);
    const isKnownFile = c.parameter === "file" && KNOWN_FILES.includes(c.schema);
    return code === undefined || isKnownFile ? [] : [[JSON.stringify(row), code, c] as const];
  });

  it.each(cases)("rejects %s with %s, for every place of the route", (_what, code, c) => {
    for (const mount of Object.keys(PREFIXES) as Combination["mount"][]) {
      const register = () => build({ ...c, mount }, new Trace());
      expect(register).toThrow(ConfigurationError);
      expect(register).toThrow(expect.objectContaining({ code }));
    }
  });

  it.each(KNOWN_FILES)("does not reject a file whose schema is %s yet", (schema) => {
    const c = levels.simplest({ method: "POST", parameter: "file", schema });
    expect(refusalOf(c)).toBe("TSGI_INVALID_FILE_SCHEMA");
    expect(() => build(c, new Trace())).not.toThrow();
  });
});
