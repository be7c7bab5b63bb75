import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import { Project, type RunningCommand } from "./_project.js";

const versioned = (version: number) => `import { App } from "tsgi";
export const app = new App({ title: "Items" });
app.get("/", async () => ({ version: ${version}, pid: process.pid }));
`;

interface Answer {
  version: number;
  pid: number;
  url: string;
}

async function ask(command: RunningCommand): Promise<Answer> {
  const [, url = ""] = await command.next(/Listening on (http:\S+)/);
  await command.next(/Ready in \d+ ms/);
  return { ...((await (await fetch(url)).json()) as Omit<Answer, "url">), url };
}

/** Whether a process still runs; a zombie does not. */
async function isRunning(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "State:\tZ");
  return !/State:\s+[ZX]/.test(status);
}

/** Listens on a port until the end of the block. */
async function occupyPort(wanted = 0): Promise<{ port: number } & AsyncDisposable> {
  const server = createServer().listen(wanted, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("A TCP server has a port.");
  return { port: address.port, [Symbol.asyncDispose]: async () => void (await once(server.close(), "close")) };
}

async function freePort(): Promise<number> {
  await using server = await occupyPort();
  return server.port;
}

/** Uses util-linux's `script` to run a command in a pseudo-terminal. */
const hasTerminal = /util-linux/.test(spawnSync("script", ["--version"], { encoding: "utf8" }).stdout ?? "");

const slow = process.env["TSGI_SLOW"] ? it : it.skip;

describe("tsgi dev", () => {
  it("links to the documentation, and serves the new code in a new process after a change", async () => {
    await using project = await Project.create({ "src/app.ts": versioned(1) });
    const command = project.start(["dev", "--port", "0"]);
    const before = await ask(command);
    expect(command.output).toMatch(/Documentation: http:\/\/127\.0\.0\.1:\d+\/docs/);
    expect(command.output).toMatch(/Inspector: http:\/\/127\.0\.0\.1:\d+\/__tsgi/);
    await project.write({ "src/app.ts": versioned(2) });
    await command.next(/src\/app\.ts changed/);
    const after = await ask(command);
    expect([before.version, after.version]).toEqual([1, 2]);
    expect(await isRunning(before.pid)).toBe(false);
  });

  it("names dependencies by the variables that hold them, in the inspector and in readiness", async () => {
    const source = `import { App, Depends } from "tsgi";
import { health } from "tsgi/health";
export const app = new App();
const openDatabase = Depends(async () => 1, { scope: "app", check: () => true });
export const getSum = app.get("/", { params: { db: openDatabase } }, async ({ db }) => db);
app.includeRouter(health());`;
    await using project = await Project.create({ "app.js": source });
    const command = project.start(["dev", "--port", "0"]);
    const [, url = ""] = await command.next(/Listening on (http:\S+)/);
    const read = async (target: string): Promise<unknown> => (await fetch(url + target)).json();
    expect(await read("/ready")).toEqual({ status: "ok", checks: { openDatabase: "ok" } });
    expect(await read("/__tsgi/routes")).toMatchObject([
      { name: "GET /", dependencies: [{ name: "openDatabase" }] },
      { name: "GET /live" },
      { name: "GET /ready" },
    ]);
  });

  it("shows a syntax error, waits, and recovers from it", async () => {
    await using project = await Project.create({ "app.ts": versioned(1) });
    const command = project.start(["dev", "--port", "0"]);
    await ask(command);
    await project.write({ "app.ts": "export const app = ;" });
    await command.next(/Syntax error: Unexpected ";"\n {2}at app\.ts:1:20\n\n {2}export const app = ;/);
    await command.next(/Waiting for a change/);
    await project.write({ "app.ts": versioned(2) });
    expect((await ask(command)).version).toBe(2);
  });

  it("pretty-prints JSON log lines on the output they are written to, and does not change other lines", async () => {
    const line = (text: string) => JSON.stringify({ level: 30, time: 0, msg: text });
    const source = `${versioned(1)}console.log(${JSON.stringify(line("to stdout"))});
      console.error(${JSON.stringify(line("to stderr"))}); console.log({ a: 1 });`;
    await using project = await Project.create({ "app.js": source });
    const command = project.start(["dev", "--port", "0", "--no-access-log"]);
    await ask(command);
    command.child.kill("SIGTERM");
    const { stdout, stderr } = await command.ended;
    expect(stdout).toMatch(/^[\d:.]{12} INFO {2}to stdout\n\{ a: 1 \}\n$/);
    expect(stderr).toMatch(/^[\d:.]{12} INFO {2}to stderr\n/m);
  });

  it("prints everything that an application writes before it exits", async () => {
    const source = `for (let n = 0; n < 5000; n++) console.log(JSON.stringify({ level: 30, time: 0, msg: "line " + n }));
      process.stdout.write('{"partial":');
      process.exit(3);`;
    await using project = await Project.create({ "app.js": source });
    const command = project.start(["dev", "--port", "0"]);
    await command.next(/The application ended \(exit code 3\)/);
    command.child.kill("SIGTERM");
    const { stdout } = await command.ended;
    expect(stdout.match(/INFO {2}line \d+\n/g)).toHaveLength(5000);
    expect(stdout.endsWith('INFO  line 4999\n{"partial":')).toBe(true);
  });

  it("restarts although a process that the application started still has its output open", async () => {
    const source = `import { spawn } from "node:child_process";
      const held = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: ["ignore", "inherit", "inherit"], detached: true });
      console.log("held by " + held.pid); held.unref(); ${versioned(1)}`;
    await using project = await Project.create({ "app.js": source });
    const command = project.start(["dev", "--port", "0"]);
    const [, pid] = await command.next(/held by (\d+)/);
    try {
      await ask(command);
      await project.write({ "app.js": versioned(2) });
      expect((await ask(command)).version).toBe(2);
    } finally {
      process.kill(Number(pid), "SIGKILL");
    }
  });

  it("reports options of routes that belong to another framework", async () => {
    const source = `${versioned(1)}app.get("/users/:id", (req, res) => res.json({}));`;
    await using project = await Project.create({ "app.js": source });
    const command = project.start(["dev", "--port", "0"]);
    await command.next(/Ready in \d+ ms/);
    expect(command.output).toContain('tsgi dev: GET /users/:id: ":id" is plain text here. Write "{id}".');
    expect(command.output).toContain("tsgi dev: GET /users/:id: the handler takes 2 arguments");
    await project.write({ "app.js": `${versioned(1)}app.use(() => {});` });
    await command.next(/tsgi dev: An App of tsgi has no use\(\)\. Write app\.addMiddleware/);
  });

  it("ignores the output of build tools: compiled files, their folders, and empty folders", async () => {
    await using project = await Project.create({ "app.js": versioned(1) });
    const command = project.start(["dev", "--port", "0"]);
    await ask(command);
    await project.write({ "dist/app.js": "", ".tool-1/new/app.js": "", ".cache/a.js": "" });
    await mkdir(path.join(project.folder, "empty"));
    await project.write({ "app.js": versioned(2) });
    expect((await ask(command)).version).toBe(2);
    expect(command.output.match(/.* changed\. Restarting/g)).toEqual(["tsgi dev: app.js changed. Restarting"]);
  });

  it("restarts for files that the application has loaded, for its environment and for its configuration", async () => {
    const source = `${versioned(1)}app.get("/later", async () => (await import("./src/later.js")).text);`;
    const files = {
      "app.js": source,
      "src/later.js": 'export const text = "a";',
      ".env": "",
      "other/package.json": "{}",
    };
    await using project = await Project.create(files);
    const command = project.start(["dev", "--port", "0"]);
    const { url } = await ask(command);
    await project.write({
      "notes.json": "{}",
      "src/unused.ts": "",
      "test/app.test.ts": "",
      "other/package.json": "{ }",
    });
    await fetch(`${url}/later`);
    for (const name of ["src/later.js", ".env", "package.json", "app.js"]) {
      const text = await readFile(path.join(project.folder, name), "utf8");
      await project.write({ [name]: `${text}\n` });
      const [, changed] = await command.next(/tsgi dev: (.*) changed\. /);
      expect(changed).toBe(name);
      const next = await ask(command);
      await fetch(`${next.url}/later`);
    }
  });

  it("restarts for any file of the folders of --watch", async () => {
    await using project = await Project.create({ "app.js": versioned(1), "pages/index.html": "a" });
    const command = project.start(["dev", "--port", "0", "--watch", "pages"]);
    await ask(command);
    await project.write({ "pages/index.html": "b" });
    const [changed] = await command.next(/\S+ changed/);
    expect(changed).toBe("pages/index.html changed");
    await ask(command);
  });

  it("keeps the requests of the inspector across restarts, including a process that exits during a request", async () => {
    const source = `${versioned(1)}app.get("/exit", async () => process.exit(1));`;
    await using project = await Project.create({ "app.js": source });
    const command = project.start(["dev", "--port", "0"]);
    const { url } = await ask(command);
    await fetch(`${url}/exit`).catch(() => {});
    await command.next(/Waiting for a change/);
    await project.write({ "app.js": versioned(2) });
    const next = await ask(command);
    const events = (await fetch(`${next.url}/__tsgi/events`)).body ?? [];
    let text = "";
    for await (const chunk of events) {
      text += Buffer.from(chunk as Uint8Array).toString();
      if (text.includes("\n\n")) break;
    }
    const { requests } = JSON.parse(text.slice("data: ".length)) as {
      requests: { path: string; error: string | null }[];
    };
    expect(requests.map((request) => [request.path, request.error])).toEqual([
      ["/", null],
      ["/exit", "The process has ended."],
      ["/", null],
    ]);
  });

  it("watches compiled files if it serves them", async () => {
    await using project = await Project.create({ "dist/app.js": versioned(1) });
    const command = project.start(["dev", "dist/app.js", "--port", "0"]);
    await ask(command);
    await project.write({ "dist/app.js": versioned(2) });
    expect((await ask(command)).version).toBe(2);
  });

  it("starts with a failing application, and serves it after it is fixed", async () => {
    await using project = await Project.create({ "app.js": 'throw new Error("no database");' });
    const command = project.start(["dev", "--port", "0"]);
    await command.next(/Error: no database/);
    await command.next(/ended \(exit code 1\)\. Waiting for a change/);
    await project.write({ "app.js": versioned(1) });
    expect((await ask(command)).version).toBe(1);
  });

  it("reloads in spite of a client that holds its connection", async () => {
    await using project = await Project.create({ "app.js": versioned(1) });
    const command = project.start(["dev", "--port", "0"]);
    const { port } = new URL((await ask(command)).url);
    const socket = connect(Number(port), "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    socket.on("error", () => {});
    await once(socket, "data");
    await project.write({ "app.js": versioned(2) });
    expect((await ask(command)).version).toBe(2);
    socket.destroy();
  });

  it("counts files that change together as one change", async () => {
    const source = 'import { n } from "./n.js";\n' + versioned(1).replace("version: 1", "version: n");
    await using project = await Project.create({ "app.js": source, "n.js": "export const n = 1;" });
    const command = project.start(["dev", "--port", "0"]);
    await ask(command);
    await project.write({ "n.js": "export const n = 2;", "app.js": `${source}\n` });
    expect((await ask(command)).version).toBe(2);
    command.child.kill("SIGTERM");
    const { stderr } = await command.ended;
    expect(stderr.match(/changed\. Restarting/g)?.length).toBeLessThanOrEqual(2);
  });

  it("reads environment files again from any folder, and does not override existing variables", async () => {
    const source = versioned(1).replace("version: 1", "version: Number(process.env.N + process.env.M)");
    await using project = await Project.create({ "src/app.js": source, "settings/one.env": "N=1\nM=2" });
    const command = project.start(["dev", "--port", "0", "--env-file", "settings/one.env"], { M: "5" });
    expect((await ask(command)).version).toBe(15);
    await project.write({ "settings/one.env": "N=3\nM=4" });
    expect((await ask(command)).version).toBe(35);
  });

  it("believes the proxies that --trusted-proxies lists", async () => {
    const source = `import { App, Request } from "tsgi";
      export const app = new App();
      app.get("/", { params: { request: Request } }, async ({ request }) => request.client.host);`;
    await using project = await Project.create({ "app.js": source });
    const command = project.start(["dev", "--port", "0", "--trusted-proxies", "loopback"]);
    const [, url = ""] = await command.next(/Listening on (http:\S+)/);
    const answer = await fetch(url, { headers: { "x-forwarded-for": "198.51.100.7" } });
    expect(await answer.json()).toBe("198.51.100.7");
  });

  it("takes hundreds of files that are written one after the other for few changes", async () => {
    const source = 'import { n } from "./n199.js";\n' + versioned(1).replace("version: 1", "version: n");
    await using project = await Project.create({ "app.js": source, "n199.js": "export const n = 1;" });
    const command = project.start(["dev", "--port", "0"]);
    await ask(command);
    for (let index = 0; index < 200; index++) await project.write({ [`n${index}.js`]: "export const n = 2;" });
    let version = 1;
    while (version === 1) version = (await ask(command)).version;
    // The number depends on the machine: one at a time would be 200.
    expect(command.output.match(/changed\. Restarting/g)?.length).toBeLessThan(200);
  });

  it("restarts if a file outside the folder that the application imports changes", async () => {
    await using shared = await Project.create({ "n.js": "export const n = 1;" });
    const source = `import { n } from "${shared.folder}/n.js";\n${versioned(1).replace("version: 1", "version: n")}`;
    await using project = await Project.create({ "app.js": source });
    const command = project.start(["dev", "--port", "0"]);
    expect((await ask(command)).version).toBe(1);
    await shared.write({ "n.js": "export const n = 2;" });
    expect((await ask(command)).version).toBe(2);
  });

  it("loads the next version by a tsconfig.json that has changed", async () => {
    const paths = (n: number) => JSON.stringify({ compilerOptions: { paths: { "#n": [`./n${n}.ts`] } } });
    const source = 'import { n } from "#n";\n' + versioned(1).replace("version: 1", "version: n");
    const files = { "n1.ts": "export const n = 1;", "n2.ts": "export const n = 2;", "tsconfig.json": paths(1) };
    await using project = await Project.create({ "app.ts": source, ...files });
    const command = project.start(["dev", "--port", "0"]);
    expect((await ask(command)).version).toBe(1);
    await project.write({ "tsconfig.json": paths(2) });
    expect((await ask(command)).version).toBe(2);
  });

  it("continues without a deleted module until it exists again", async () => {
    await using project = await Project.create({ "app.js": versioned(1) });
    const command = project.start(["dev", "--port", "0"]);
    await ask(command);
    await rm(path.join(project.folder, "app.js"));
    await command.next(/The file .*app\.js does not exist\.[^]*Waiting for a change/);
    await project.write({ "app.js": versioned(2) });
    expect((await ask(command)).version).toBe(2);
  });

  it("prints the program that uses the port and the next free one, and exits", async () => {
    await using other = await occupyPort();
    await using project = await Project.create({ "app.js": versioned(1) });
    const { code, stdout, stderr } = await project.run("dev", "--port", String(other.port));
    const [, next] = /--port (\d+), or PORT=\1\./.exec(stderr) ?? [];
    expect(Number(next)).toBeGreaterThan(other.port);
    expect(stderr).toContain(`Port ${other.port} on 127.0.0.1 is in use by `);
    if (process.platform === "linux") expect(stderr).toContain(`(process ${process.pid})`);
    expect([code, stdout]).toEqual([1, ""]);
  });

  it("waits for a change if the port is in use later, and serves once it is free", async () => {
    await using project = await Project.create({ "app.js": versioned(1) });
    const command = project.start(["dev", "--port", String(await freePort())]);
    const { port } = new URL((await ask(command)).url);
    await project.write({ "app.js": "throw new Error('not yet');" });
    await command.next(/Waiting for a change/);
    {
      await using _ = await occupyPort(Number(port));
      await project.write({ "app.js": versioned(2) });
      await command.next(new RegExp(`Port ${port} on 127.0.0.1 is in use[^]*Waiting for a change`));
    }
    await project.write({ "app.js": versioned(3) });
    expect((await ask(command)).version).toBe(3);
  });

  it("ends with all its processes on SIGINT in the middle of a reload", async () => {
    await using project = await Project.create({ "app.ts": versioned(1) });
    const command = project.start(["dev", "--port", "0"]);
    await ask(command);
    await project.write({ "app.ts": versioned(2) });
    await command.next(/Restarting/);
    command.child.kill("SIGINT");
    // The streams of the command close when the last process that holds them has ended.
    expect(await command.ended).toMatchObject({ code: 0, signal: null });
  });

  it.each(["SIGINT", "SIGTERM"] as const)("ends with its child on %s, exit code 0", async (signal) => {
    await using project = await Project.create({ "app.js": versioned(1) });
    const command = project.start(["dev", "--port", "0"]);
    const { pid } = await ask(command);
    command.child.kill(signal);
    expect(await command.ended).toMatchObject({ code: 0 });
    expect(await isRunning(pid)).toBe(false);
  });

  it("leaves no child process if it is killed itself", async () => {
    await using project = await Project.create({ "app.ts": versioned(1) });
    const command = project.start(["dev", "--port", "0"]);
    await ask(command);
    command.child.kill("SIGKILL");
    // The streams of the command close when the last process that holds them has ended: the child.
    expect(await command.ended).toMatchObject({ signal: "SIGKILL" });
  });

  slow("leaves no process after 50 reloads", async () => {
    await using project = await Project.create({ "app.js": versioned(0) });
    const command = project.start(["dev", "--port", "0"]);
    const pids = [(await ask(command)).pid];
    for (let version = 1; version <= 50; version++) {
      await project.write({ "app.js": versioned(version) });
      const answer = await ask(command);
      expect(answer.version).toBe(version);
      pids.push(answer.pid);
    }
    command.child.kill("SIGINT");
    await command.ended;
    expect(await Promise.all(pids.map((pid) => isRunning(pid)))).not.toContain(true);
  });
});

(hasTerminal ? describe : describe.skip)("tsgi dev at a terminal whose port is in use", () => {
  it.each([
    ["y", /Ready in/],
    ["", /Ready in/],
    ["n", /Stop the program that has it, or take the next free one/],
  ])("asks whether to use the next port: %j", async (answer, end) => {
    await using other = await occupyPort();
    await using project = await Project.create({ "app.js": versioned(1) });
    const command = project.startAtTerminal(["dev", "--port", String(other.port)]);
    const [, next] = await command.next(/Take (\d+)\? \(Y\/n\) /);
    command.child.stdin?.write(`${answer}\r`);
    await command.next(end);
    expect(command.output.includes(`Listening on http://127.0.0.1:${next}`)).toBe(answer !== "n");
    command.child.stdin?.write("\u0003");
    await command.ended;
  });
});

(hasTerminal ? describe : describe.skip)("the log of tsgi dev at a terminal", () => {
  const source = `${versioned(1)}console.log({ a: 1 }); console.log('{"level":30,"time":0,"msg":"text"}');`;

  it.each([
    ["colored, with what the application colors", {}, true],
    ["plain by NO_COLOR", { NO_COLOR: "1" }, false],
  ])("is %s", async (_title, env, isColored) => {
    await using project = await Project.create({ "app.js": source });
    const inherited = { CI: undefined, COLORTERM: undefined, FORCE_COLOR: undefined, NO_COLOR: undefined };
    const terminal = { ...inherited, TERM: "xterm-256color", ...env };
    const command = project.start(["dev", "--port", "0"], terminal, { isAtTerminal: true });
    await command.next(/Ready in/);
    expect(command.output.includes("\u001b[32mINFO \u001b[39m text")).toBe(isColored);
    expect(command.output.includes("{ a: \u001b[33m1\u001b[39m }")).toBe(isColored);
    expect(command.output.includes("INFO  text")).toBe(!isColored);
    command.child.stdin?.write("\u0003");
    expect((await command.ended).code).toBe(0);
  });
});
