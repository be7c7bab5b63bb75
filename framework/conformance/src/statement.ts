/** Statements of ASGI, and the result of a check. @module */
import { nextTurn, show } from "tsgi/internals";

/** The part of the protocol that a statement is about. */
export type Area = "http" | "websocket" | "lifespan";

/** `must`: ASGI demands it. `should`: ASGI recommends it, or describes it as optional. */
export type Level = "must" | "should";

/** One rule of ASGI 3.0, with the check that tells if a subject keeps it. */
export interface Statement<Subject, Feature extends string = string> {
  /** A name that stays: `http.response.start-once`. */
  readonly id: string;
  readonly area: Area;
  readonly level: Level;
  /** The rule, in one sentence. */
  readonly rule: string;
  /** The address of the section of ASGI that has the rule. */
  readonly source: string;
  /** The identifier and the rule: a title for a test. */
  readonly title: string;
  /** The features that the subject needs for the statement to apply. */
  readonly needs: readonly Feature[];
  /**
   * Tells if a subject keeps the rule.
   *
   * @throws ConformanceError with the expected and the received value.
   */
  readonly check: (subject: Subject) => Promise<void>;
}

/** The outcome of one check. */
export interface CheckResult<Subject, Feature extends string = string> {
  readonly statement: Statement<Subject, Feature>;
  /** `false` only where the check failed: a statement that does not apply is passed. */
  readonly passed: boolean;
  /** Why the check failed. */
  readonly error?: unknown;
  /** Why the statement does not apply. */
  readonly notApplicable?: string;
}

/** A subject does not keep a statement. */
export class ConformanceError extends Error {
  override readonly name = "ConformanceError";
}

/** Reasons why a subject does not have a feature, by the feature. */
export type Lacks<Feature extends string> = Readonly<Partial<Record<Feature, string>>>;

/**
 * The reason why a statement does not apply to a subject, or `null`.
 *
 * @example
 * ```ts
 * import { serverStatements, whyNotApplicable } from "@tsgi/conformance";
 *
 * const lacks = { websocket: "fetch has no WebSockets" };
 * const applicable = serverStatements.filter((statement) => whyNotApplicable(statement, lacks) === null);
 * ```
 */
export function whyNotApplicable<Feature extends string>(
  { needs }: Pick<Statement<never, Feature>, "needs">,
  lacks: Lacks<Feature>,
): string | null {
  for (const feature of needs) {
    const reason = lacks[feature];
    if (reason !== undefined) return reason;
  }
  return null;
}

/** Checks each statement, one after the other. */
export async function checkAll<Subject, Feature extends string>(
  statements: readonly Statement<Subject, Feature>[],
  subject: Subject,
  lacks: Lacks<Feature>,
): Promise<CheckResult<Subject, Feature>[]> {
  const results: CheckResult<Subject, Feature>[] = [];
  for (const statement of statements) {
    const notApplicable = whyNotApplicable(statement, lacks);
    if (notApplicable === null) results.push(await checkOne(statement, subject));
    else results.push({ statement, passed: true, notApplicable });
  }
  return results;
}

async function checkOne<Subject, Feature extends string>(
  statement: Statement<Subject, Feature>,
  subject: Subject,
): Promise<CheckResult<Subject, Feature>> {
  try {
    await statement.check(subject);
    return { statement, passed: true };
  } catch (error) {
    return { statement, passed: false, error };
  }
}

/** The addresses of the documents. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  main: "https://asgi.readthedocs.io/en/latest/specs/main.html",
  www: "https://asgi.readthedocs.io/en/latest/specs/www.html",
  lifespan: "https://asgi.readthedocs.io/en/latest/specs/lifespan.html",
};

/** The parts of a statement in a table. */
export type Row<Subject> = readonly [
  id: string,
  level: Level,
  section: string,
  rule: string,
  check: (subject: Subject) => Promise<void>,
];

/**
 * Makes statements of the rows of a table.
 *
 * @param needs - What all of them need. A row lists more after its identifier: `http.scope.raw-path +raw-target`.
 */
export function toStatements<Subject, Feature extends string>(
  area: Area,
  needs: readonly Feature[],
  rows: readonly Row<Subject>[],
): Statement<Subject, Feature>[] {
  return rows.map(([name, level, section, rule, check]) => {
    const [id = "", ...more] = name.split(" +");
    const [document = "", anchor = ""] = section.split("#");
    return {
      id,
      area,
      level,
      rule,
      source: `${DOCUMENTS[document] ?? ""}#${anchor}`,
      title: `${id}: ${rule}`,
      needs: [...needs, ...(more as Feature[])],
      check,
    };
  });
}

/** Milliseconds for one check: checks do not wait for time to pass, so only a subject that hangs needs them. */
const LIMIT_MS = 5000;

/** Milliseconds after which a check stops to wait for the other side: less than it has, so that it can say so. */
const PATIENCE_MS = 4000;

/** Tells if a promise resolves while a check is patient. */
export async function isResolvedInTime(promise: Promise<void>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), PATIENCE_MS)));
  const inOrder = promise.then(() => true);
  return Promise.race([inOrder, late]).finally(() => clearTimeout(timer));
}

/** Repeats a call in later turns of the event loop until it throws. Tells if it does while a check is patient. */
export async function throwsInTime(call: () => Promise<void> | void): Promise<boolean> {
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await nextTurn()) {
    try {
      await call();
    } catch {
      return true;
    }
  }
  return false;
}

/** Waits for a promise, as long as a check may take. @throws ConformanceError when it has not settled by then. */
export async function inTime<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ConformanceError(`Expected ${what} within ${LIMIT_MS} ms.`)), LIMIT_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** @throws ConformanceError unless the condition holds. */
export function must(condition: boolean, message: string): asserts condition {
  if (!condition) throw new ConformanceError(message);
}

/** @throws ConformanceError unless the values are written the same as JSON. */
export function mustEqual(actual: unknown, expected: unknown, what: string): void {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)];
  must(left === right, `Expected ${what} to be ${right}, not ${left ?? show(actual)}.`);
}

/** @throws ConformanceError unless the call throws, or returns a promise that rejects. */
export async function mustThrow(call: () => unknown, what: string): Promise<void> {
  try {
    await call();
  } catch {
    return;
  }
  throw new ConformanceError(`Expected an error of ${what}.`);
}
