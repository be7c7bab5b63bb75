import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it } from "@jest/globals";
import { Project } from "./_project.js";

describe("tsgi run with an application that does not start", () => {
  it("prints the variables that are missing once, each in a line", async () => {
    const source = `import { App, Depends, t } from "tsgi";
      import { loadSettings } from "tsgi/settings";
      const settings = Depends(() => loadSettings(t.Object({ databaseUrl: t.String(), port: t.Integer() })), { scope: "app" });
      export const app = new App();
      app.get("/", { params: { settings } }, async () => null);`;
    await using project = await Project.create({ "app.js": source });
    const { code, stderr } = await project.spawn("run", "--port", "0");
    expect(stderr.match(/^ {2}DATABASE_URL: is missing$/gm)).toHaveLength(1);
    expect(stderr.match(/DATABASE_URL/g)).toHaveLength(1);
    expect(stderr).not.toContain("\\n");
    expect(code).toBe(1);
  });

  it("prints any other error once, with the frames of the application's code", async () => {
    const source = `import { App } from "tsgi";
      export const app = new App();
      app.onStartup(function connect() { throw new Error("no database"); });`;
    await using project = await Project.create({ "app.js": source });
    const { stderr } = await project.spawn("run", "--port", "0");
    expect(stderr.match(/no database/g)).toHaveLength(1);
    expect(stderr).toMatch(/^ {4}at .*connect .*app\.js:3:48\)?\nServerStartError: .*no database\nRead more/);
  });
});

describe("a module that workers of the pool cannot use", () => {
  const source = `import { App } from "tsgi";
    export const app = new App({ entry: new URL("absent.js", import.meta.url) });
    app.get("/sum", () => 1);`;

  it("is an error at start of tsgi dev", async () => {
    await using project = await Project.create({ "app.js": source });
    const [text] = await project.start(["dev", "--port", "0"]).next(/ServerStartError: .*/);
    expect(text).toMatch(/its module \S+absent\.js cannot be imported/);
  });

  it("is an error of the first call of a plain handler in tsgi run", async () => {
    await using project = await Project.create({ "app.js": source });
    const command = project.start(["run", "--port", "0"]);
    const [, url = ""] = await command.next(/Listening on (\S+)/);
    expect((await fetch(`${url}/sum`)).status).toBe(500);
    await command.next(/EntryError: .* its module \S+absent\.js cannot be imported/);
  });
});

/** A connection to a name with two addresses that both refuse. */
const REFUSED = `import { connect } from "node:net";
  import { App } from "tsgi";
  const addresses = ["127.0.0.1", "127.0.0.2"].map((address) => ({ address, family: 4 }));
  const refused = () => new Promise((_, reject) =>
    connect({ host: "db.test", port: 1, autoSelectFamily: true, lookup: (_host, _options, found) => found(null, addresses) })
      .on("error", reject));
  export const app = new App();`;

describe("a database that refuses connections at two addresses", () => {
  it.each(["run", "dev"])("is shown with the addresses by tsgi %s if a startup hook needs it", async (command) => {
    await using project = await Project.create({ "app.js": `${REFUSED}\napp.onStartup(refused);` });
    const started = project.start([command, "--port", "0"]);
    const [text] = await started.next(/AggregateError: .*/);
    expect(text).toContain("connect ECONNREFUSED 127.0.0.1:1; connect ECONNREFUSED 127.0.0.2:1");
  });

  it.each(["run", "doctor"])("is shown with the addresses by tsgi %s if the module needs it", async (command) => {
    await using project = await Project.create({ "app.js": `${REFUSED}\nawait refused();` });
    const { stdout, stderr, code } = await project.spawn(command);
    expect(stdout + stderr).toMatch(/contains Error: connect ECONNREFUSED 127\.0\.0\.1:1/);
    expect(stdout + stderr).toMatch(/contains Error: connect ECONNREFUSED 127\.0\.0\.2:1/);
    expect(code).toBe(1);
  });

  it("is shown with the addresses by tsgi run if a shutdown hook needs it", async () => {
    await using project = await Project.create({ "app.js": `${REFUSED}\napp.onShutdown(refused);` });
    const command = project.start(["run", "--port", "0"]);
    await command.next(/Listening on/);
    command.child.kill("SIGTERM");
    const { stderr } = await command.ended;
    expect(stderr).toContain(
      "A shutdown hook failed: AggregateError: connect ECONNREFUSED 127.0.0.1:1; connect ECONNREF",
    );
  });
});

describe("a program with an uncaught error", () => {
  it("shows the message of a port in use, and the line of the program, without code of the package", async () => {
    await using server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const source = `import { App } from "tsgi";
      import { serve } from "tsgi/node";
      await serve(new App(), { port: ${port} });`;
    await using project = await Project.create({ "main.ts": source });
    const { status, stderr } = spawnSync(process.execPath, ["--import", "tsx", "main.ts"], {
      cwd: project.folder,
      encoding: "utf8",
    });
    expect(stderr).toMatch(/^ServerStartError: Port \d+ on 127\.0\.0\.1 is in use\..*\n {4}at .*main\.ts:3/m);
    expect(stderr).not.toMatch(/framework[\\/](?:dist|src)/);
    expect(status).toBe(1);
  });

  it("lists the frames of the application first in the log of a 500", async () => {
    const source = `import { App } from "tsgi";
      import { serve } from "tsgi/node";
      const app = new App();
      app.get("/", async function failing() { await null; [1].map(function inner() { throw new Error("broken"); }); });
      const { url, close } = await serve(app, { port: 0 });
      await fetch(url);
      await app.fetch(new Request("http://x/"));
      await close();`;
    await using project = await Project.create({ "main.js": source });
    const { stderr } = spawnSync(process.execPath, ["main.js"], { cwd: project.folder, encoding: "utf8" });
    const stacks = stderr.split("Error: broken\n").slice(1);
    const frames = stacks.map((text) => [...text.matchAll(/^\s+at (\S+) /gm)].map(([, name]) => name));
    expect(frames.map((names) => names.slice(0, 2))).toEqual([
      ["inner", "failing"],
      ["inner", "failing"],
    ]);
    expect(frames[0]).toContain("Array.map");
  });
});
