import { describe, expect, it } from "@jest/globals";

import { IS_SLOW } from "../../../../test/support/on-demand.js";
import { until } from "./_gate.js";
import { Program } from "./_program.js";

interface Said {
  readonly pid: number;
  readonly answers: readonly { pid: number }[];
}

interface Run {
  readonly said: Said;
  readonly counts: Readonly<Record<string, number>>;
}

/** The programs that have run, each once for all tests. */
const runs = new Map<string, Promise<Run>>();

/** Runs a program to its end, and returns its JSON output and how often it wrote each other line. */
function run(fixture: string, kind: string): Promise<Run> {
  const key = `${fixture} ${kind}`;
  const known = runs.get(key) ?? runOnce(fixture, kind);
  runs.set(key, known);
  return known;
}

async function runOnce(fixture: string, kind: string): Promise<Run> {
  await using program = Program.start(fixture, [kind]);
  expect({ ...(await program.ended), stderr: program.stderr }).toMatchObject({ code: 0, signal: null });
  await program.said(/closed/);
  const lines = program.stdout.trim().split("\n");
  const counts: Record<string, number> = {};
  for (const line of lines) counts[line] = (counts[line] ?? 0) + 1;
  const said = JSON.parse(lines.find((line) => line.startsWith("{")) ?? "null") as Said;
  return { said, counts };
}

/** For tests of code that is the same for both kinds: the tests of threads are skipped without `TSGI_SLOW`. */
const describeInProcesses = (kind: string) => (kind === "process" || IS_SLOW ? describe : describe.skip);

describe.each(["process", "thread"])("a program with a %s pool", (kind) => {
  async function runsOnce(_what: string, fixture: string): Promise<void> {
    const { said, counts } = await run(fixture, kind);
    expect(counts["served"] ?? 1).toBe(1);
    expect(counts["closed"]).toBe(1);
    const places = said.answers.map(({ pid }) => pid === said.pid);
    expect(places).toEqual(said.answers.map(() => kind === "thread"));
  }

  it.each([["of one file that makes an app, serves it and calls it", "script.js"]])("%s runs once and ends", runsOnce);

  describeInProcesses(kind)("and an App in another place", () => {
    it.each([
      ["of one file in TypeScript, through tsx,", "script.ts"],
      ["that calls its app directly", "direct.js"],
      ["whose app comes of a factory in a main function", "main-function.js"],
      ["that opens a test client, where the kind is set", "tested.js"],
      ["that serves an app which names its entry", "named.js"],
      ["whose plain handlers are those of a mounted App", "mounted.js"],
    ])("%s runs once and ends", runsOnce);
  });
});

describe("a program", () => {
  it("runs once and ends if it opens a test client for an app with an entry", async () => {
    const { said, counts } = await run("tested-entry.js", "process");
    expect(counts).toMatchObject({ served: 1, closed: 1 });
    expect(said.answers.map(({ pid }) => pid === said.pid)).toEqual([false]);
  });

  it.each(["process", "thread"])("waits with closing its pool for a hung %s to be gone", async (kind) => {
    await using program = Program.start("close-hung.js", [kind]);
    expect(await program.ended).toEqual({ code: 0, signal: null });
    await program.said(/answered\nclosed\n/);
  });

  it("imports its module once in each worker, but not the code after serve()", async () => {
    const { counts, said } = await run("script.js", "process");
    expect(counts["imported"]).toBeGreaterThanOrEqual(2);
    expect(counts["imported"]).toBeLessThanOrEqual(3);
    expect(said).toMatchObject({ answers: [{ sum: 41 }, { sum: 42 }] });
  });

  it("has no pool if it has no non-async handler", async () => {
    const { said } = await run("mounted.js", "process");
    expect(said).toMatchObject({ outer: null });
  });
});

describe.each(["process", "thread"])("a module of no use to a worker, in a %s pool,", (kind) => {
  describeInProcesses(kind)("at startup", () => {
    it.each([
      ["cannot be imported", "throws", /its module \S+faulty\.js cannot be imported: RangeError: not in a worker/],
      ["is not there", "missing", /its module \S+no-such-file\.js cannot be imported/],
      ["makes no App", "factory", /its module \S+work\.js makes no App with routes when it is imported/],
      [
        "makes an App with other routes",
        "unlike",
        /makes an App with other routes than the server's \(without GET \/missing, with GET \/besides\)/,
      ],
    ])("is one clear error if it %s, with the route and the fix", async (_, fault, message) => {
      await using program = Program.start("faulty.js", [fault, kind]);
      const { code } = await program.ended;
      await program.said(message);
      expect(code).not.toBe(0);
      expect(program.stderr).toContain("GET /plain is not async");
      expect(program.stderr).toContain("Make the handler async, or name the module that makes the App");
      expect(program.stdout).not.toContain("serves");
    });
  });

  it("is a 500 for each call of a plain handler if workers start with the calls, and the server keeps running", async () => {
    await using program = Program.start("faulty.js", ["throws", kind, "lazy"]);
    const url = await program.said(/serves (\S+)/);
    for (let call = 0; call < 2; call++) expect((await fetch(`${url}/plain`)).status).toBe(500);
    await program.said(/its module \S+faulty\.js cannot be imported: RangeError: not in a worker/);
    expect(program.stderr).toContain("Make the handler async, or name the module that makes the App");
    expect((await fetch(`${url}/async`)).status).toBe(200);
  });

  it("is tried five times if it exits at every start, then results in 503; the server keeps running", async () => {
    await using program = Program.start("faulty.js", ["dies", kind]);
    const url = await program.said(/serves (\S+)/);
    const first = await fetch(`${url}/plain`);
    expect([first.status, Number(first.headers.get("retry-after")) > 0]).toEqual([503, true]);
    expect((await fetch(`${url}/plain`)).status).toBe(503);
    expect((await fetch(`${url}/async`)).status).toBe(200);
    expect(program.stderr.split("A pool worker ended with exit code 7").length - 1).toBeGreaterThanOrEqual(5);
  });
});

describe("a worker", () => {
  it("does not affect the server if it exits soon after every start", async () => {
    await using program = Program.start("faulty.js", ["dies-later", "process"]);
    const url = await program.said(/serves (\S+)/);
    await until(() => program.stderr.split("before it was of use. Another is tried.").length > 4);
    expect((await fetch(`${url}/async`)).status).toBe(200);
  });

  it("does not start other workers", async () => {
    await using program = Program.start("faulty.js", ["starts-workers", "process"]);
    await program.said(/ConfigurationError: A worker cannot start other workers/);
    expect((await program.ended).code).not.toBe(0);
  });

  it("does not have a handler that a startup hook registers: it runs on the event loop, and a warning is logged", async () => {
    await using program = Program.start("faulty.js", ["hook", "process"]);
    const url = await program.said(/serves (\S+)/);
    expect(await (await fetch(`${url}/late`)).json()).toEqual({ pid: program.child.pid });
    expect(program.stderr).toContain("GET /late is not async and runs on the event loop, because a startup hook");
  });
});
