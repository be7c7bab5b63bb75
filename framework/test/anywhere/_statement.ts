/** The form of a statement, and the requests of its check. */
import assert from "node:assert/strict";
import type { Answer, Sent } from "../support/call.js";
import { sendTo } from "../support/send.js";

/** A feature that a platform can lack. */
export type Feature =
  | "client address"
  | "compression"
  | "disconnects"
  | "documentation pages"
  | "encoded slashes"
  | "large responses"
  | "request streams"
  | "response streams"
  | "several requests"
  | "static files";

/** A program with the application of `app/app.mjs`, at an address. */
export interface Subject {
  /** Such as `"esbuild, one file"` or `"AWS Lambda"`. */
  readonly name: string;
  /** The origin of its server, without a slash at its end. */
  readonly url: string;
  /** The features that the platform does not have, each with the reason. */
  readonly lacks: Readonly<Partial<Record<Feature, string>>>;
}

/** Sends a request on a new connection, and reads the response to its end. */
export type SendRequest = (method: string, target: string, sent?: Sent) => Promise<Answer>;

/** The arguments of a check. */
export interface Check {
  readonly url: string;
  readonly send: SendRequest;
  /** A key that no other run of a statement uses. */
  readonly key: string;
}

/** One statement about an application, checked over HTTP. */
export interface Statement {
  /** A sentence of behavior in the present tense. */
  readonly title: string;
  /** A platform that lacks one of them is not checked. */
  readonly needs?: readonly Feature[];
  /** @throws AssertionError if the statement is not true. */
  check(context: Check): Promise<void>;
}

/** The result of one statement. */
export interface Result {
  readonly title: string;
  /** `"passed"`, the reason why the platform cannot do it, or the message of the failure. */
  readonly outcome: "passed" | "lacks" | "failed";
  readonly reason?: string;
}

let runs = 0;

/** Returns why a statement does not apply to a subject, or `null`. */
export function lackOf({ lacks }: Pick<Subject, "lacks">, { needs = [] }: Statement): string | null {
  for (const feature of needs) if (lacks[feature] !== undefined) return lacks[feature];
  return null;
}

/** Checks one statement on a subject that has all features which it needs. @throws AssertionError if it is not true. */
export async function checkStatement({ url }: Pick<Subject, "url">, statement: Statement): Promise<void> {
  const key = `${process.pid}-${++runs}`;
  await statement.check({ url, key, send: (method, target, sent) => sendTo(url, method, target, sent) });
}

/** Checks all statements on a subject, one at a time. */
export async function checkStatements(subject: Subject, statements: readonly Statement[]): Promise<Result[]> {
  const results: Result[] = [];
  for (const statement of statements) {
    const reason = lackOf(subject, statement);
    if (reason !== null) {
      results.push({ title: statement.title, outcome: "lacks", reason });
      continue;
    }
    try {
      await checkStatement(subject, statement);
      results.push({ title: statement.title, outcome: "passed" });
    } catch (error) {
      results.push({ title: statement.title, outcome: "failed", reason: String(error) });
    }
  }
  return results;
}

/** Asserts the status of a response, and shows its body if it is another. */
export function assertStatus(answer: Answer, status: number): void {
  assert.equal(answer.status, status, `Expected ${status}, not ${answer.status}: ${answer.text.slice(0, 500)}`);
}

/** Asserts a response with a status and a JSON body. */
export function assertJSON(answer: Answer, json: unknown, status = 200): void {
  assertStatus(answer, status);
  assert.deepEqual(answer.json, json);
}
