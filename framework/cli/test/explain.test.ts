import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import { Project } from "./_project.js";

const PAGE = readFileSync(path.resolve(import.meta.dirname, "../../docs/errors.md"), "utf8");
const CODES = [...PAGE.matchAll(/^### (.+)$/gm)].map((heading) => heading[1] as string);

describe("tsgi explain", () => {
  it("prints the explanation of the page for a code, formatted for a terminal", async () => {
    await using project = await Project.create({});
    const { code, stdout, stderr } = await project.run("explain", "TSGI_DUPLICATE_ROUTE");
    expect(stdout).toMatch(/^TSGI_DUPLICATE_ROUTE \(Routes, routers and mounts\)\n\nTwo routes have/);
    expect(stdout).toMatch(/^ {2}… …: this method and pattern have a route already/m);
    expect(stdout).toMatch(/^ {4}\/\/ Wrong\n {4}app\.get/m);
    expect(stdout).not.toMatch(/```|<br>|^#/m);
    expect(stdout).toMatch(/\n\nThe page: .*assets\/errors\.md\n$/);
    expect([code, stderr]).toEqual([0, ""]);
  });

  it.each(["tsgi_duplicate_route", "duplicate-route", "Duplicate_Route", " DUPLICATE_ROUTE "])(
    "takes %j for TSGI_DUPLICATE_ROUTE",
    async (text) => {
      await using project = await Project.create({});
      expect((await project.run("explain", text)).stdout).toMatch(/^TSGI_DUPLICATE_ROUTE /);
    },
  );

  it("explains why a server cannot start", async () => {
    await using project = await Project.create({});
    expect((await project.run("explain", "eaddrinuse")).stdout).toMatch(/^EADDRINUSE \(Starting a server\)\n/);
  });

  it("lists each code with one line, below the titles of the page", async () => {
    await using project = await Project.create({});
    const { code, stdout } = await project.run("explain");
    const lines = stdout.split("\n");
    expect(lines.flatMap((line) => /^ {2}([A-Z\d_]+) +\S/.exec(line)?.[1] ?? [])).toEqual(CODES);
    expect(lines.filter((line) => /^ {2}[A-Z\d_]+ +[-`]+ /.test(line))).toEqual([]); // a message is not a summary
    expect(lines[0]).toBe("Routes, routers and mounts");
    expect(stdout).toMatch(/\n\nMiddleware\n {2}TSGI_CORS_/);
    expect(code).toBe(0);
  });

  it.each([
    ["a spelling", "TSGI_DUPLCATE_ROUTE", ["TSGI_DUPLICATE_ROUTE"]],
    ["a word of codes", "webSocket", CODES.filter((code) => code.split("_").includes("WEBSOCKET"))],
    ["other words in between", "handler_is_not_a_function", ["TSGI_HANDLER_NOT_A_FUNCTION"]],
    ["nothing like it", "xyz", []],
  ])("suggests for %s the codes that may be meant", async (_what, text, expected) => {
    await using project = await Project.create({});
    const { code, stdout, stderr } = await project.run("explain", text);
    expect(stderr).toContain(`error: unknown code "${text}". `);
    expect(stderr.match(/^ {2}\w+/gm)?.map((word) => word.trim()) ?? []).toEqual(expected);
    expect([code, stdout]).toEqual([2, ""]);
  });
});

describe("the last line of a failed command", () => {
  const WRONG = 'import { App } from "tsgi";\nexport const app = new App();\napp.mount("/v1", app);';

  it.each([["run", "--port", "0"], ["routes"], ["openapi"], ["doctor"]])(
    "suggests how to read more: tsgi %s",
    async (...args) => {
      await using project = await Project.create({ "app.js": WRONG });
      const { code, stdout, stderr } = await project.run(...args.filter((arg) => arg !== undefined));
      expect(`${stdout}${stderr}`).toMatch(
        /cannot mount itself[^]*\nRead more: tsgi explain TSGI_MOUNTED_ON_ITSELF\n$/,
      );
      expect(code).toBe(1);
    },
  );

  it("suggests how to read more: tsgi dev", async () => {
    await using project = await Project.create({ "app.js": WRONG });
    const command = project.start(["dev", "--port", "0"]);
    await command.next(/cannot mount itself[^]*\nRead more: tsgi explain TSGI_MOUNTED_ON_ITSELF\n/);
    expect(command.output).toContain("TSGI_MOUNTED_ON_ITSELF");
  });

  it("includes the code of an error that a startup hook threw", async () => {
    const source = `import { App } from "tsgi";
      export const app = new App();
      app.onStartup((app) => app.mount("/v1", app));`;
    await using project = await Project.create({ "app.js": source });
    const { code, stderr } = await project.run("run", "--port", "0");
    expect(stderr).toMatch(
      /startup failed: .*cannot mount itself\..* \[TSGI_MOUNTED_ON_ITSELF\]\nRead more: tsgi explain TSGI_MOUNTED_ON_ITSELF\n$/,
    );
    expect(code).toBe(1);
  });

  it("explains why the application did not start if the error has no code", async () => {
    const source = `import { App } from "tsgi";
      export const app = new App();
      app.onStartup(() => { throw new Error("no database"); });`;
    await using project = await Project.create({ "app.js": source });
    const { stderr } = await project.run("run", "--port", "0");
    expect(stderr).toMatch(/startup failed: Error: no database\nRead more: tsgi explain ELIFESPAN\n$/);
  });

  it("includes the code of the cause of an application's error", async () => {
    const source = `import { App } from "tsgi";
      const app = new App();
      try { app.mount("/v1", app); } catch (cause) { throw new Error("no api", { cause }); }`;
    await using project = await Project.create({ "app.js": source });
    const { stderr } = await project.run("routes");
    expect(stderr).toMatch(/^Error: no api\n[^]*caused by ConfigurationError[^]*explain TSGI_MOUNTED_ON_ITSELF\n$/);
  });

  it.each([
    ["has no code", 'throw new Error("boom")'],
    ["has a code of its own", 'throw Object.assign(new Error("boom"), { code: "TSGI_MINE" })'],
    ["has the code of a system's call", 'throw Object.assign(new Error("boom"), { code: "EACCES" })'],
  ])("is the error's own if it %s", async (_what, source) => {
    await using project = await Project.create({ "app.js": source });
    const { stderr } = await project.run("routes");
    expect(stderr).toContain("Error: boom");
    expect(stderr).not.toContain("tsgi explain");
  });
});
