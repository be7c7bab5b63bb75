import { describe, expect, it } from "@jest/globals";
import { Project } from "./_project.js";

const INLINE = `
import { Jobs } from "@tsgi/jobs";
export const jobs = new Jobs({ inline: true });
const report = jobs.define("report", {}, async () => {});
jobs.schedule("nightly", "0 3 * * *", report, undefined, { timezone: "Europe/Berlin" });
const paid = jobs.event("order.paid");
paid.subscribe("receipt", {}, async () => {});
jobs.event("order.lost");
`;

describe("tsgi worker and tsgi jobs", () => {
  it("report a module that exports no Jobs, or several", async () => {
    await using project = await Project.create({
      "none.js": "export const app = {};",
      "several.js": `${INLINE} export const others = new Jobs({ inline: true });`,
    });
    expect(await project.run("worker", "none.js")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("none.js exports no Jobs. Write `export const jobs = new Jobs({ url })`"),
    });
    expect(await project.run("jobs", "list", "--module", "several.js")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("several.js exports 2 Jobs."),
    });
  });

  it("explain that inline jobs run in the process that enqueues them", async () => {
    await using project = await Project.create({ "src/app.js": INLINE });
    for (const line of [["worker"], ["jobs", "list"]]) {
      expect(await project.run(...line)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("The Jobs of src/app.js are inline"),
      });
    }
  });

  it("list the schedules and the events that the program declares", async () => {
    await using project = await Project.create({ "src/app.js": INLINE });
    const { code, stdout } = await project.run("jobs", "schedules", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      { name: "nightly", cron: "0 3 * * *", timezone: "Europe/Berlin", job: "report" },
    ]);
    const events = await project.run("jobs", "events", "--json");
    expect(JSON.parse(events.stdout)).toEqual([
      { name: "order.paid", subscribers: [{ name: "order.paid/receipt", program: null }] },
      { name: "order.lost", subscribers: [] },
    ]);
    expect((await project.run("jobs", "events")).stdout).toMatch(
      /^order\.paid +order\.paid\/receipt *\norder\.lost +no subscribers *$/m,
    );
    expect((await project.run("jobs", "schedules")).stdout).toMatch(/^nightly +0 3 \* \* \* +Europe\/Berlin +report$/m);
  });

  it("describe the events in the AsyncAPI document of a module that exports the Jobs", async () => {
    const app = 'import { App } from "tsgi"; export const app = new App();';
    await using project = await Project.create({
      "jobs.js": INLINE,
      "app.js": `${app} export { jobs } from "./jobs.js";`,
      "without.js": `${app} import "./jobs.js";`,
      "several.js": `${app} ${INLINE} export const others = new Jobs({ inline: true });`,
    });
    const { code, stdout } = await project.run("openapi", "app.js", "--async");
    expect(code).toBe(0);
    expect(Object.keys((JSON.parse(stdout) as { operations: object }).operations)).toEqual([
      "order.paid.send",
      "order.paid/receipt.receive",
      "order.lost.send",
    ]);
    expect(JSON.parse((await project.run("openapi", "without.js", "--async")).stdout)).toMatchObject({ channels: {} });
    expect(await project.run("openapi", "several.js", "--async")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("several.js exports 2 Jobs."),
    });
  });

  it.each(["SIGTERM", "SIGINT"] as const)("end the worker with status 0 on %s while it imports", async (signal) => {
    await using project = await Project.create({
      "src/app.js": 'console.log("imports"); setInterval(() => {}, 1000); await new Promise(() => {});',
    });
    const command = project.start(["worker"]);
    await command.next(/imports/);
    command.child.kill(signal);
    expect(await command.ended).toEqual({ code: 0, signal: null, stdout: "imports\n", stderr: "" });
  });

  it("reject an unknown action, and one without its id, with status 2", async () => {
    await using project = await Project.create({});
    expect(await project.run("jobs", "drop")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Allowed choices are list, show, retry, cancel, schedules, events."),
    });
    expect(await project.run("jobs", "retry")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("tsgi jobs retry takes the id of a job"),
    });
  });
});
