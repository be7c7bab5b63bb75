/** Runs a combination, and compares it with the model. @module */
import { isDeepStrictEqual } from "node:util";
import { constants, gunzipSync } from "node:zlib";
import { build, wrap } from "./_pairs-app.js";
import type { Driver, Received } from "./_pairs-drivers.js";
import type { Expected, ExpectedBody, ExpectedFault, ExpectedProblem } from "./_pairs-expected.js";
import type { Combination } from "./_pairs-factors.js";
import { predict } from "./_pairs-model.js";
import { hasNoBody } from "./_pairs-model-results.js";
import { requestOf } from "./_pairs-request.js";
import { Trace } from "./_pairs-trace.js";

/** One request, from both sides. */
export interface Observed {
  readonly received: Received;
  readonly trace: Trace;
}

/** Builds the application of a combination, and sends its request. */
export async function run(c: Combination, driver: Driver): Promise<Observed> {
  const trace = new Trace();
  const app = build(c, trace);
  const isWrapped = c.send === "wrapped";
  const received = await driver.call(
    {
      app: isWrapped ? wrap(app, trace) : app,
      bare: isWrapped ? null : app,
      hasLifespan: c.dependency !== "app at first use",
      onMessage: isWrapped ? () => {} : trace.push,
      beforeSecond: c.request === "second" ? () => trace.clear() : null,
    },
    requestOf(c),
  );
  return { received, trace };
}

/** The lines in which an observation differs from the model. */
export function differences(c: Combination, { received, trace }: Observed): string[] {
  const expected = predict(c);
  const { isCut } = expected;
  const found = new Differences();
  found.compare("cut", received.isCut, isCut);
  // A client need not receive the bytes before a cut.
  if (!isCut || received.status !== 0) compareResponse(found, c, received, expected);
  found.compare("events", trace.events, visibleEvents(c, expected));
  found.count("lines at level error", trace.linesAt("error"), expected.errors);
  if (c.observed === "yes") {
    found.compare("observed route", trace.route, expected.route);
    found.compare("observed status", trace.status, expected.status);
    found.compare("observed error", trace.isFailure, expected.isFailure);
  }
  return found.lines;
}

/** The lines in which something differs. */
export class Differences {
  readonly lines: string[] = [];

  /** @param wanted - `undefined` is undecided. */
  compare(what: string, seen: unknown, wanted: unknown): void {
    if (wanted === undefined || isDeepStrictEqual(seen, wanted)) return;
    this.lines.push(`${what}: ${JSON.stringify(seen)}, expected ${JSON.stringify(wanted)}`);
  }

  /** Compares the number of lines, and shows the lines themselves. */
  count(what: string, seen: readonly string[], wanted: number | undefined): void {
    this.compare(what, seen.length === wanted ? wanted : seen, wanted);
  }
}

function compareResponse(found: Differences, c: Combination, received: Received, expected: Expected): void {
  const { status, headers, body } = received;
  found.compare("status", status, expected.status);
  for (const [name, wanted] of Object.entries(expected.headers)) {
    const seen = headers[name] ?? null;
    found.compare(name, wanted !== null && seen?.startsWith(wanted) === true ? wanted : seen, wanted);
  }
  const length = headers["content-length"];
  if (length !== undefined && c.method !== "HEAD" && !received.isCut) {
    found.compare("content-length", Number(length), body.length);
  }
  if (hasNoBody(c, expected.status)) return found.compare("body", body.toString(), "");
  const text = headers["content-encoding"] === "gzip" ? unzip(body) : body.toString();
  if (!isBody(text, headers["content-type"] ?? "", expected.body)) found.compare("body", text, expected.body);
}

/** Unzips as much as there is of a body. */
const unzip = (body: Buffer): string => gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH }).toString();

/** A server hides the messages of an application, unless it is wrapped. */
function visibleEvents({ driver, send }: Combination, { events }: Expected): readonly string[] | undefined {
  if (driver === "direct" || send === "wrapped") return events;
  return events?.filter((event) => event !== "head" && event !== "sent");
}

function isBody(text: string, type: string, expected: ExpectedBody): boolean {
  try {
    if (expected === "detail") return typeof (JSON.parse(text) as { detail?: unknown }).detail === "string";
    if ("text" in expected) return text === expected.text;
    if ("items" in expected) return isDeepStrictEqual(itemsOf(text, type), expected.items);
    if ("problem" in expected) return isProblem(JSON.parse(text) as SeenProblem, expected.problem);
    if ("custom" in expected) return isCustom(JSON.parse(text) as SeenCustom, expected.custom);
    if ("json" in expected) return isDeepStrictEqual(JSON.parse(text), expected.json);
    return areFaults((JSON.parse(text) as { detail: SeenFault[] }).detail, expected.faults);
  } catch {
    return false; // It is not JSON.
  }
}

interface SeenFault {
  readonly type: string;
  readonly loc: readonly (string | number)[];
}

function areFaults(seen: readonly SeenFault[], expected: readonly ExpectedFault[]): boolean {
  return (
    seen.length === expected.length &&
    seen.every(({ type, loc }, index) => {
      const { type: wanted, at } = expected[index] as ExpectedFault;
      return `${loc.join(".")}.`.startsWith(`${at}.`) && (wanted === undefined || type === wanted);
    })
  );
}

interface SeenCustom {
  readonly custom: {
    readonly status: number;
    readonly detail: unknown;
    readonly instance: string;
    readonly faults: readonly SeenFault[] | null;
  };
}

/** error-format.md, Options. */
function isCustom({ custom: seen }: SeenCustom, expected: ExpectedProblem): boolean {
  const { status, detail = seen.detail, instance = seen.instance, faults } = expected;
  return (
    seen.status === status &&
    seen.detail === detail &&
    seen.instance === instance &&
    (faults === null ? seen.faults === null : seen.faults !== null && areFaults(seen.faults, faults))
  );
}

interface SeenProblem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly instance?: string;
  readonly errors?: readonly { readonly pointer?: string; readonly parameter?: string; readonly code: string }[];
}

/** error-format.md, Problem details. */
function isProblem({ type, title, errors, ...seen }: SeenProblem, expected: ExpectedProblem): boolean {
  const { status, detail = seen.detail, instance = seen.instance, faults } = expected;
  return (
    type === "about:blank" &&
    title !== "" &&
    isDeepStrictEqual(seen, { status, detail, instance }) &&
    (faults === null ? errors === undefined : errors !== undefined && areIssues(errors, faults))
  );
}

function areIssues(seen: NonNullable<SeenProblem["errors"]>, expected: readonly ExpectedFault[]): boolean {
  return (
    seen.length === expected.length &&
    seen.every(({ pointer, parameter, code }, index) => {
      const { type = code, at } = expected[index] as ExpectedFault;
      const [source, ...names] = at.split(".");
      const isHere =
        source === "body"
          ? `${pointer}/`.startsWith(`/${[...names, ""].join("/")}`)
          : pointer === undefined && (names.length === 0 || parameter === names[0]);
      return isHere && code === type;
    })
  );
}

/** The items of a stream. */
function itemsOf(text: string, type: string): unknown[] {
  const [end, prefix] = type.startsWith("text/event-stream") ? ["\n\n", "data: "] : ["\n", ""];
  const parts = text.split(end);
  if (parts.pop() !== "") throw new Error("The last item has no end.");
  return parts.map((part) => {
    if (!part.startsWith(prefix)) throw new Error(`An item begins with ${part.slice(0, 10)}.`);
    return JSON.parse(part.slice(prefix.length)) as unknown;
  });
}
