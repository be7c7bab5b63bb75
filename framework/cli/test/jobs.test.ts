import { describe, expect, it } from "@jest/globals";
import { Project } from "./_project.js";

const INLINE = `
import { Jobs } from "@tsgi/jobs";
export const jobs = new Jobs({ inline: true });
const report = jobs.define("report", {}, async () => {});
jobs.schedule("nightly", "0 3 * * *", report, undefined, { timezone: "Europe/Berlin" });
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

  it("list the schedules that the program declares", async () => {
    await using project = await Project.create({ "src/app.js": INLINE });
    const { code, stdout } = await project.run("jobs", "schedules", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      { name: "nightly", cron: "0 3 * * *", timezone: "Europe/Berlin", job: "report" },
    ]);
    expect((await project.run("jobs", "schedules")).stdout).toMatch(/^nightly +0 3 \* \* \* +Europe\/Berlin +report$/m);
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
      stderr: expect.stringContaining("Allowed choices are list, show, retry, cancel, schedules."),
    });
    expect(await project.run("jobs", "retry")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("tsgi jobs retry takes the id of a job"),
    });
  });
});
