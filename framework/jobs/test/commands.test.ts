/** The commands `tsgi worker` and `tsgi jobs` on a database. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, it } from "@jest/globals";
import { Project } from "../../cli/test/_project.js";
import { createDatabase, describeWithDatabase } from "./_database.js";

/** A program whose job fails until a file exists. */
const PROGRAM = `
import { appendFileSync, existsSync } from "node:fs";
import { t } from "tsgi";
import { Jobs } from "@tsgi/jobs";
export const jobs = new Jobs({ url: process.env.DATABASE_URL, schema: process.env.DATABASE_SCHEMA });
const options = { payload: t.Object({ name: t.String() }), params: { signal: AbortSignal }, attempts: 1 };
export const work = jobs.define("work", options, async ({ payload, signal }) => {
  if (payload.name === "poison" && !existsSync("antidote")) throw new Error("poisoned");
  if (payload.name === "endless") {
    appendFileSync("log", "endless began\\n");
    await new Promise((resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  }
  appendFileSync("log", payload.name + "\\n");
});
export const other = jobs.define("other", {}, async () => {});
`;

const ENQUEUE = `
import { jobs, work } from "./jobs.js";
for (const name of process.argv.slice(2)) console.log(await work.enqueue({ name }));
await jobs.close();
`;

describeWithDatabase("the commands", () => {
  const database = createDatabase();
  const env = { DATABASE_URL: database.url, DATABASE_SCHEMA: database.schema };

  /** A project with the program, and commands in it. */
  async function open() {
    const project = await Project.create({ "jobs.js": PROGRAM, "enqueue.js": ENQUEUE });
    const run = (...args: string[]) => project.start(args, env).ended;
    const json = async (...args: string[]): Promise<unknown> => JSON.parse((await run(...args, "--json")).stdout);
    return { project, run, json, [Symbol.asyncDispose]: () => project[Symbol.asyncDispose]() };
  }

  it("run, list, show, retry and cancel jobs", async () => {
    await using at = await open();
    const enqueued = await at.project.script("enqueue.js", ["poison", "late"], env);
    const [poison = "", late = ""] = enqueued.trim().split("\n");
    expect(await at.json("jobs", "list", "--module", "jobs.js")).toMatchObject([
      { id: late, name: "work", state: "waiting", attempt: 1, payload: { name: "late" } },
      { id: poison, name: "work", state: "waiting" },
    ]);
    expect(await at.run("jobs", "cancel", late, "--module", "jobs.js")).toMatchObject({ code: 0 });
    const worker = at.project.start(["worker", "jobs.js", "--queues", "work", "--concurrency", "2"], env);
    await worker.next(/The worker takes jobs/);
    await worker.next(/The job work is dead/);
    expect(await at.json("jobs", "show", poison, "--module", "jobs.js")).toMatchObject({
      id: poison,
      state: "dead",
      reason: "poisoned",
      attempt: 1,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect((await at.run("jobs", "list", "--module", "jobs.js")).stdout).toMatch(/dead +1 .*poisoned/);
    expect((await at.run("jobs", "cancel", poison, "--module", "jobs.js")).stderr).toContain(`${poison} is dead.`);
    expect(await at.run("jobs", "retry", late, "--module", "jobs.js")).toMatchObject({ code: 1 });
    await at.project.write({ antidote: "" });
    expect(await at.run("jobs", "retry", poison, "--module", "jobs.js")).toMatchObject({ code: 0 });
    const states = async () => {
      const list = (await at.json("jobs", "list", "--module", "jobs.js")) as { state: string }[];
      return list.map(({ state }) => state);
    };
    while ((await states())[1] !== "done");
    expect(await states()).toEqual(["cancelled", "done"]);
    worker.child.kill("SIGTERM");
    await expect(worker.ended).resolves.toMatchObject({ code: 0 });
    expect((await at.run("jobs", "show", "nothing", "--module", "jobs.js")).stderr).toContain(
      "The job nothing does not exist.",
    );
  });

  it("stop at SIGTERM with status 0 and keep all jobs", async () => {
    await using at = await open();
    const worker = at.project.start(["worker", "jobs.js", "--shutdown-timeout", "300"], env);
    await worker.next(/The worker takes jobs/);
    const [id = ""] = (await at.project.script("enqueue.js", ["endless"], env)).trim().split("\n");
    const state = async () => ((await at.json("jobs", "show", id, "--module", "jobs.js")) as { state: string }).state;
    while ((await state()) !== "running");
    worker.child.kill("SIGTERM");
    const { code, stderr } = await worker.ended;
    expect(code).toBe(0);
    expect(stderr).toContain("The worker stops: running jobs are given back: work");
    expect(await at.json("jobs", "show", id, "--module", "jobs.js")).toMatchObject({ state: "waiting", attempt: 1 });
  });

  it("do not start a program without a name that has a subscriber", async () => {
    const source = (options: string) => `
      import { Jobs } from "@tsgi/jobs";
      export const jobs = new Jobs({ url: process.env.DATABASE_URL, schema: process.env.DATABASE_SCHEMA, ${options} });
      jobs.event("paid").subscribe("receipt", {}, async () => {});`;
    await using project = await Project.create({
      "package.json": '{ "type": "module" }',
      "nameless.js": source(""),
      "named.js": source('program: "shop"'),
    });
    expect(await project.start(["worker", "nameless.js"], env).ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the nearest package.json has no "name"'),
    });
    const worker = project.start(["worker", "named.js"], env);
    await worker.next(/The worker takes jobs/);
    worker.child.kill("SIGTERM");
    await worker.ended;
    const { stdout } = await project.start(["jobs", "events", "--module", "named.js", "--json"], env).ended;
    expect(JSON.parse(stdout)).toEqual([{ name: "paid", subscribers: [{ name: "paid/receipt", program: "shop" }] }]);
  });

  it("reject the name of a job that is not defined", async () => {
    await using at = await open();
    expect(await at.run("worker", "jobs.js", "--queues", "wrok")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('The job "wrok" is not defined. Defined are: work, other.'),
    });
  });

  it("undo the start of a worker on a signal while a dependency, or the database, does not respond", async () => {
    const silent = createServer((socket) => socket.resume().on("error", () => {})).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const url = `postgresql://127.0.0.1:${(silent.address() as AddressInfo).port}/jobs`;
    const source = (second: string) => `
      import { Depends } from "tsgi";
      import { Jobs } from "@tsgi/jobs";
      async function* first() { console.log("first starts"); yield 1; console.log("first stops"); }
      async function* second() { console.log("second starts"); ${second} yield 2; console.log("second stops"); }
      export const jobs = new Jobs({ url: "${url}" });
      const params = { first: Depends(first, { scope: "app" }), second: Depends(second, { scope: "app" }) };
      jobs.define("report", { params }, async () => {});`;
    await using project = await Project.create({
      "hangs.js": source("await new Promise(() => setInterval(() => {}, 1000));"),
      "connects.js": source(""),
    });
    for (const file of ["hangs.js", "connects.js"]) {
      const command = project.start(["worker", file, "--shutdown-timeout", "1000"]);
      await command.next(/second starts/);
      if (file === "connects.js") await once(silent, "connection");
      command.child.kill("SIGTERM");
      const { code, stdout, stderr } = await command.ended;
      const stops = file === "connects.js" ? "second stops\nfirst stops\n" : "first stops\n";
      expect(stdout).toBe(`first starts\nsecond starts\n${stops}`);
      expect(stderr).toMatch(/^\S+ INFO The worker has stopped\.\n$/);
      expect(code).toBe(0);
    }
    await new Promise((resolve) => silent.close(resolve));
  });
});
