/** Commands whose output is read by a process that ends first, as `head` does. */
import { expect, it } from "@jest/globals";
import { Project } from "./_project.js";

/** Each request writes more than a pipe holds. */
const APP = `import { App } from "tsgi";
  import { accessLog } from "tsgi/middleware";
  const text = "x".repeat(100_000);
  const write = () => {
    console.log(text);
    console.error(text);
    return process.pid;
  };
  export const app = new App({ instrumentation: accessLog() });
  app.get("/async", async () => write());
  app.get("/pooled", () => write());`;

it.each(["run", "dev"])(
  "tsgi %s continues if the readers of its outputs have ended, and stops gracefully",
  async (name) => {
    await using project = await Project.create({ "app.js": APP });
    const command = project.start([name, "--port", "0"]);
    const [url = ""] = await command.next(/http:\/\/127\.0\.0\.1:\d+/);
    if (name === "dev") await command.next(/Inspector/);
    command.child.stdout?.destroy();
    command.child.stderr?.destroy();
    for (const path of ["/async", "/pooled"]) {
      const answers: string[] = [];
      for (let count = 0; count < 5; count++) answers.push(await (await fetch(url + path)).text());
      expect(answers).toEqual(Array.from({ length: 5 }, () => answers[0])); // no process was replaced
      expect(Number(answers[0])).toBeGreaterThan(0);
    }
    command.child.kill("SIGTERM");
    expect((await command.ended).code).toBe(0);
  },
);

it("a command that prints ends without an error if its reader has ended", async () => {
  await using project = await Project.create({ "app.js": APP });
  const command = project.start(["routes"]);
  command.child.stdout?.destroy();
  expect(await command.ended).toMatchObject({ code: 0, stderr: "" });
});
