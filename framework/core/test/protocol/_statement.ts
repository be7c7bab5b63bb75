/** Statements of the protocol as tests, one for each driver. @module */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { type Driver, type DriverName, type Feature, Lost, NotKept } from "./_driver.js";
import { Stage } from "./_stage.js";

/** One rule of the protocol. */
export interface Statement {
  /** The rule, in one sentence. */
  readonly title: string;
  /** The section that has it. */
  readonly source: string;
  /** Rejects if the driver does not keep the rule. */
  readonly run: (stage: Stage) => Promise<void>;
  /** Features that the rule requires. */
  readonly needs?: readonly Feature[];
  /** The reason why a driver cannot keep the rule, by its platform. */
  readonly differs?: Readonly<Partial<Record<DriverName, string>>>;
  /** Drivers that do not keep the rule, and should. */
  readonly drift?: readonly DriverName[];
  /** Drivers that keep the rule, though the driver which they are based on does not. */
  readonly keeps?: readonly DriverName[];
}

/** Milliseconds after which a statement hangs; and one whose row has a mark, which may hang each time. */
const LIMITS_MS = { inProcess: { kept: 30_000, marked: 500 }, remote: { kept: 120_000, marked: 3000 } };

/** A statement waits for something that does not happen. */
class Late extends Error {
  override readonly name = "Late";
}

async function inTime(run: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Late(`The statement still waits after ${limitMs} ms.`)), limitMs);
  });
  try {
    await Promise.race([run, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Tells if an error states that a rule is not kept. Any other is a mistake in the statement. */
function isFailure(error: unknown): boolean {
  if (error instanceof Late || error instanceof Lost || error instanceof NotKept) return true;
  // The driver throws where the statement expects that it does not.
  if (error instanceof Error && ["ClientDisconnect", "ProtocolError"].includes(error.name)) return true;
  return error instanceof Error && "matcherResult" in error;
}

/** The reason why a driver is expected to violate a statement, or `null`. */
function markOf({ differs = {}, drift = [], keeps = [] }: Statement, { name, base = name }: Driver): string | null {
  if (keeps.includes(name)) return null;
  if (drift.includes(name) || drift.includes(base)) return "to be fixed";
  return differs[name] ?? differs[base] ?? null;
}

/** The tests of one driver. */
class Run {
  readonly #driver: Driver;
  /** Servers that stop: some wait a moment for their clients, and the statements do not wait with them. */
  readonly #ending: Promise<void>[] = [];

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  define(statement: Statement): void {
    const { title, source } = statement;
    const reason = markOf(statement, this.#driver);
    if (reason === null) {
      it(`${title} [${source}]`, async () => {
        expect(await this.#check(statement, this.#limitsMs.kept)).toBe("kept");
      });
    } else {
      it(`does not keep (${reason}): ${title} [${source}]`, async () => {
        expect(await this.#checkMarked(statement)).toBe("not kept");
      });
    }
  }

  get #limitsMs(): (typeof LIMITS_MS)["remote"] {
    return LIMITS_MS["in process" in this.#driver.lacks ? "remote" : "inProcess"];
  }

  async #check({ run }: Statement, limitMs: number): Promise<"kept"> {
    const stage = new Stage(this.#driver);
    try {
      await inTime(run(stage), limitMs);
      return "kept";
    } finally {
      this.#ending.push(stage.end());
    }
  }

  /** A driver that keeps a statement whose row has a mark fails, so that the mark is removed. */
  async #checkMarked(statement: Statement): Promise<"kept" | "not kept"> {
    try {
      return await this.#check(statement, this.#limitsMs.marked);
    } catch (error) {
      if (!isFailure(error)) throw error;
      return "not kept";
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#ending);
  }
}

/** Defines the statements of one area as tests of each driver. */
export function describeStatements(statements: readonly Statement[], drivers: readonly Driver[]): void {
  for (const driver of drivers) {
    const applicable = statements.filter(({ needs = [] }) => needs.every((feature) => !(feature in driver.lacks)));
    if (applicable.length > 0) describeDriver(driver, applicable);
  }
}

function describeDriver(driver: Driver, statements: readonly Statement[]): void {
  describe.each([driver])("$name", () => {
    const run = new Run(driver);
    beforeAll(async () => driver.open?.());
    afterAll(async () => {
      await run.end();
      await driver.close?.();
    });
    for (const statement of statements) run.define(statement);
  });
}
