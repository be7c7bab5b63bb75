import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { freePort } from "../../test/support/free-port.js";
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

/** The address of the next process that is ready: a second change may end the one before it when it already listens. */
async function nextURL(command: RunningCommand): Promise<string> {
  const [, url = ""] = await command.next(/Listening on (http:\S+)(?:(?!Listening on )[^])*?Ready in \d+ ms/);
  return url;
}

/** The response of a process that responds so. The system may report one change twice, and others serve before. */
async function answerOf<A extends Answer>(command: RunningCommand, wanted: Partial<A>): Promise<A> {
  for (;;) {
    const url = await nextURL(command);
    const response = await fetch(url).catch(() => null);
    if (response === null) continue;
    const answer = { ...((await response.json()) as Omit<A, "url">), url } as A;
    if (isDeepStrictEqual({ ...answer, ...wanted }, answer)) return answer;
  }
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

/** Uses util-linux's `script` to run a command in a pseudo-terminal. */
const hasTerminal = /util-linux/.test(spawnSync("script", ["--version"], { encoding: "utf8" }).stdout ?? "");

const slow = process.env["TSGI_SLOW"] ? it : it.skip;

describe("tsgi dev", () => {
  it("pretty-prints JSON log lines on the output they are written to, and does not change other lines", async () => {
    const line = (text: string) => JSON.stringify({ level: 30, time: 0, msg: text });
    const source = `${versioned(1)}console.log(${JSON.stringify(line("to stdout"))});
      console.error(${JSON.stringify(line("to stderr"))}); console.log({ a: 1 });`;
    await using project = await Project.create({ "app.js": source });
    const command = project.start(["dev", "--port", "0", "--no-access-log"]);
    await nextURL(command);
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

  it("watches compiled files if it serves them", async () => {
    await using project = await Project.create({ "dist/app.js": versioned(1) });
    const command = project.start(["dev", "dist/app.js", "--port", "0"]);
    await nextURL(command);
    await project.write({ "dist/app.js": versioned(2) });
    expect((await answerOf(command, { version: 2 })).version).toBe(2);
  });

  it("starts with a failing application, and serves it after it is fixed", async () => {
    await using project = await Project.create({ "app.js": 'throw new Error("no database");' });
    const command = project.start(["dev", "--port", "0"]);
    await command.next(/Error: no database/);
    await command.next(/ended \(exit code 1\)\. Waiting for a change/);
    await project.write({ "app.js": versioned(1) });
    expect((await answerOf(command, { version: 1 })).version).toBe(1);
  });

  it("prints the program that uses the port and the next free one, and exits", async () => {
    await using other = await occupyPort();
    await using project = await Project.create({ "app.js": versioned(1) });
    const { code, stdout, stderr } = await project.spawn("dev", "--port", String(other.port));
    const [, next] = /--port (\d+), or PORT=\1\./.exec(stderr) ?? [];
    expect(Number(next)).toBeGreaterThan(other.port);
    expect(stderr).toContain(`Port ${other.port} on 127.0.0.1 is in use by `);
    if (process.platform === "linux") expect(stderr).toContain(`(process ${process.pid})`);
    expect([code, stdout]).toEqual([1, ""]);
  });

  it("waits for a change if the port is in use later, and serves once it is free", async () => {
    await using project = await Project.create({ "app.js": versioned(1) });
    const command = project.start(["dev", "--port", String(await freePort())]);
    const { port } = new URL(await nextURL(command));
    await project.write({ "app.js": "throw new Error('not yet');" });
    await command.next(/Waiting for a change/);
    {
      await using _ = await occupyPort(Number(port));
      await project.write({ "app.js": versioned(2) });
      await command.next(new RegExp(`Port ${port} on 127.0.0.1 is in use[^]*Waiting for a change`));
    }
    await project.write({ "app.js": versioned(3) });
    expect((await answerOf(command, { version: 3 })).version).toBe(3);
  });

  it("ends with all its processes on SIGINT in the middle of a reload", async () => {
    await using project = await Project.create({ "app.ts": versioned(1) });
    const command = project.start(["dev", "--port", "0"]);
    await nextURL(command);
    await project.write({ "app.ts": versioned(2) });
    await command.next(/Restarting/);
    command.child.kill("SIGINT");
    // The streams of the command close when the last process that holds them has ended.
    expect(await command.ended).toMatchObject({ code: 0, signal: null });
  });

  it.each(["SIGINT", "SIGTERM"] as const)("ends with its child on %s, exit code 0", async (signal) => {
    await using project = await Project.create({ "app.js": versioned(1) });
    const command = project.start(["dev", "--port", "0"]);
    const { pid } = await answerOf(command, { version: 1 });
    command.child.kill(signal);
    expect(await command.ended).toMatchObject({ code: 0 });
    expect(await isRunning(pid)).toBe(false);
  });

  it("leaves no child process if it is killed itself", async () => {
    await using project = await Project.create({ "app.ts": versioned(1) });
    const command = project.start(["dev", "--port", "0"]);
    await nextURL(command);
    command.child.kill("SIGKILL");
    // The streams of the command close when the last process that holds them has ended: the child.
    expect(await command.ended).toMatchObject({ signal: "SIGKILL" });
  });

  slow("leaves no process after 50 reloads", async () => {
    await using project = await Project.create({ "app.js": versioned(0) });
    const command = project.start(["dev", "--port", "0"]);
    const pids = [(await answerOf(command, { version: 0 })).pid];
    for (let version = 1; version <= 50; version++) {
      await project.write({ "app.js": versioned(version) });
      pids.push((await answerOf(command, { version })).pid);
    }
    command.child.kill("SIGINT");
    await command.ended;
    expect(await Promise.all(pids.map((pid) => isRunning(pid)))).not.toContain(true);
  });
});

describe("tsgi dev, of TypeScript", () => {
  let project: Project;
  let command: RunningCommand;
  let first: Answer;
  let version = 0;

  const paths = (n: number) => JSON.stringify({ compilerOptions: { paths: { "#n": [`./n${n}.ts`] } } });
  const source = (current: number) => `import { n } from "#n";\n${versioned(current).replace("pid:", "n, pid:")}`;

  beforeAll(async () => {
    const files = { "n1.ts": "export const n = 1;", "n2.ts": "export const n = 2;", "tsconfig.json": paths(1) };
    project = await Project.create({ "src/app.ts": source(0), ...files });
    command = project.start(["dev", "--port", "0"]);
    first = await answerOf(command, { version: 0 });
  });
  afterAll(() => project[Symbol.asyncDispose]());

  async function serve(): Promise<Answer> {
    version++;
    await project.write({ "src/app.ts": source(version) });
    return answerOf(command, { version });
  }

  it("links to the documentation, and serves the new code in a new process after a change", async () => {
    expect(command.output).toMatch(/Documentation: http:\/\/127\.0\.0\.1:\d+\/docs/);
    expect(command.output).toMatch(/Inspector: http:\/\/127\.0\.0\.1:\d+\/__tsgi/);
    const output = command.skip();
    const { pid } = await serve();
    expect(output()).toMatch(/src\/app\.ts changed/);
    expect(pid).not.toBe(first.pid);
    expect(await isRunning(first.pid)).toBe(false);
  });

  it("shows a syntax error, waits, and recovers from it", async () => {
    command.skip();
    await project.write({ "src/app.ts": "export const app = ;" });
    await command.next(/Syntax error: Unexpected ";"\n {2}at src\/app\.ts:1:20\n\n {2}export const app = ;/);
    await command.next(/Waiting for a change/);
    expect((await serve()).version).toBe(version);
  });

  it("loads the next version by a tsconfig.json that has changed", async () => {
    await project.write({ "tsconfig.json": paths(2) });
    expect((await answerOf<Answer & { n: number }>(command, { n: 2 })).n).toBe(2);
  });
});

/** The response of that application. */
interface Reached extends Answer {
  readonly sum: string;
  readonly beside: number;
  readonly elsewhere: number;
}

/** An application that imports a module from each of two folders, and another one for a request. */
const reaching = (elsewhere: string) => (version: number) =>
  `import { spawn } from "node:child_process";
import { App, Depends, Request } from "tsgi";
import { health } from "tsgi/health";
import { beside } from "./beside.js";
import { elsewhere } from "${elsewhere}/elsewhere.js";
const openDatabase = Depends(async () => 1, { scope: "app", check: () => true });
export const app = new App();
export const getVersion = app.get("/", { params: { request: Request, db: openDatabase } }, async ({ request }) => ({
  version: ${version}, pid: process.pid, client: request.client.host, beside, elsewhere, sum: process.env.N + process.env.M,
}));
app.get("/users/:id", async (req, res) => res.json({}));
app.get("/later", async () => (await import("./src/later.js")).text);
app.get("/exit", async () => process.exit(1));
app.get("/hold", async () => {
  const held = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: ["ignore", "inherit", "inherit"], detached: true });
  held.unref();
  return held.pid;
});
app.includeRouter(health());`;

describe("tsgi dev, after changes of an application that it serves", () => {
  let project: Project;
  let elsewhere: Project;
  let command: RunningCommand;
  let version = 0;
  /** The response of the process that serves; `null` after a test that ends it. */
  let served: Reached | null = null;
  /** The output since the beginning of the test. */
  let output: () => string;

  // The flags have an effect only on the files, the proxy and the variables that their tests use.
  const flags = ["--watch", "pages", "--trusted-proxies", "loopback", "--env-file", "settings/one.env"];

  beforeAll(async () => {
    elsewhere = await Project.create({ "elsewhere.js": "export const elsewhere = 1;" });
    const files = { ".env": "", "src/later.js": 'export const text = "a";', "other/package.json": "{}" };
    const flagged = { "pages/index.html": "a", "settings/one.env": "N=1\nM=2" };
    project = await Project.create({
      "app.js": reaching(elsewhere.folder)(0),
      "beside.js": "export const beside = 1;",
      ...files,
      ...flagged,
    });
    command = project.start(["dev", "--port", "0", ...flags], { M: "5" });
    await until({});
  });
  beforeEach(async () => {
    if (served === null) await serve();
    output = command.skip();
  });
  afterAll(async () => {
    await project[Symbol.asyncDispose]();
    await elsewhere[Symbol.asyncDispose]();
  });

  /** Waits until it serves an application that responds so. */
  async function until(wanted: Partial<Reached>): Promise<Reached> {
    served = await answerOf<Reached>(command, { version, ...wanted });
    return served;
  }

  async function change(files: Readonly<Record<string, string>>): Promise<void> {
    served = null;
    await project.write(files);
  }

  /** Changes the application, and waits until it serves its next version. */
  async function serve(): Promise<Reached> {
    version++;
    await change({ "app.js": reaching(elsewhere.folder)(version) });
    return until({});
  }

  function current(): Reached {
    if (served === null) throw new Error("It serves no application.");
    return served;
  }

  it("names dependencies and handlers by the variables that hold them, in the inspector and in readiness", async () => {
    const { url } = current();
    const read = async (target: string): Promise<unknown> => (await fetch(url + target)).json();
    expect(await read("/ready")).toEqual({ status: "ok", checks: { openDatabase: "ok" } });
    expect(await read("/__tsgi/routes")).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          name: "getVersion",
          dependencies: [expect.objectContaining({ name: "openDatabase" })],
        }),
        expect.objectContaining({ name: "GET /later" }),
        expect.objectContaining({ name: "GET /live" }),
        expect.objectContaining({ name: "GET /ready" }),
      ]),
    );
  });

  it("restarts although a process that the application started still has its output open", async () => {
    const held = (await (await fetch(`${current().url}/hold`)).json()) as number;
    try {
      await serve();
      expect(await isRunning(held)).toBe(true);
    } finally {
      process.kill(held, "SIGKILL");
    }
  });

  it("reports options of routes that belong to another framework", async () => {
    expect(command.output).toContain('tsgi dev: GET /users/:id: ":id" is plain text here. Write "{id}".');
    expect(command.output).toContain("tsgi dev: GET /users/:id: the handler takes 2 arguments");
    await change({ "app.js": `${versioned(0)}app.use(() => {});` });
    await command.next(/tsgi dev: An App of tsgi has no use\(\)\. Write app\.addMiddleware/);
  });

  it("ignores the output of build tools: compiled files, their folders, and empty folders", async () => {
    await project.write({ "dist/app.js": "", ".tool-1/new/app.js": "", ".cache/a.js": "" });
    await mkdir(path.join(project.folder, "empty"));
    await serve();
    // The system may report one change twice.
    expect(new Set(output().match(/.* changed\. Restarting/g))).toEqual(
      new Set(["tsgi dev: app.js changed. Restarting"]),
    );
  });

  it("restarts for files that the application has loaded, for its environment and for its configuration", async () => {
    await project.write({
      "notes.json": "{}",
      "src/unused.ts": "",
      "test/app.test.ts": "",
      "other/package.json": "{ }",
    });
    const names = ["src/later.js", ".env", "package.json", "app.js"];
    for (const name of names) {
      await fetch(`${current().url}/later`);
      const text = await readFile(path.join(project.folder, name), "utf8");
      await change({ [name]: `${text}\n` });
      await command.next(new RegExp(`tsgi dev: ${name} changed\\. `));
      await until({});
    }
    const changed = Array.from(output().matchAll(/tsgi dev: (.*) changed\. /g), ([, name]) => name);
    expect(new Set(changed)).toEqual(new Set(names));
  });

  it("restarts for any file of the folders of --watch", async () => {
    await change({ "pages/index.html": "b" });
    const [changed] = await command.next(/\S+ changed/);
    expect(changed).toBe("pages/index.html changed");
    await until({});
  });

  it("keeps the requests of the inspector across restarts, including a process that exits during a request", async () => {
    const { url } = current();
    await fetch(url);
    served = null;
    await fetch(`${url}/exit`).catch(() => {});
    await command.next(/Waiting for a change/);
    const next = await serve();
    const events = (await fetch(`${next.url}/__tsgi/events`)).body ?? [];
    let text = "";
    for await (const chunk of events) {
      text += Buffer.from(chunk as Uint8Array).toString();
      if (text.includes("\n\n")) break;
    }
    const { requests } = JSON.parse(text.slice("data: ".length)) as {
      requests: { path: string; handler: string; error: string | null }[];
    };
    expect(requests.at(-3)?.handler).toBe("getVersion");
    expect(requests.slice(-3).map((request) => [request.path, request.error])).toEqual([
      ["/", null],
      ["/exit", "The process has ended."],
      ["/", null],
    ]);
  });

  it("reloads in spite of a client that holds its connection", async () => {
    const { port } = new URL(current().url);
    const socket = connect(Number(port), "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    socket.on("error", () => {});
    await once(socket, "data");
    expect((await serve()).version).toBe(version);
    socket.destroy();
  });

  it("counts files that change together as one change", async () => {
    version++;
    await change({ "beside.js": "export const beside = 2;", "app.js": reaching(elsewhere.folder)(version) });
    await until({ beside: 2 });
    expect(output().match(/changed\. Restarting/g)?.length).toBeLessThanOrEqual(2);
  });

  it("reads environment files again from any folder, and does not override existing variables", async () => {
    expect(current().sum).toBe("15");
    await change({ "settings/one.env": "N=3\nM=4" });
    await until({ sum: "35" });
  });

  it("believes the proxies that --trusted-proxies lists", async () => {
    const answer = await fetch(current().url, { headers: { "x-forwarded-for": "198.51.100.7" } });
    expect(await answer.json()).toMatchObject({ client: "198.51.100.7" });
  });

  it("takes hundreds of files that are written one after the other for few changes", async () => {
    for (let index = 0; index < 200; index++) await change({ [`pages/${index}.html`]: "" });
    await change({ "beside.js": "export const beside = 3;" });
    await until({ beside: 3 });
    // The number depends on the machine: one at a time would be 200.
    expect(output().match(/changed\. Restarting/g)?.length).toBeLessThan(200);
  });

  it("restarts if a file outside the folder that the application imports changes", async () => {
    await elsewhere.write({ "elsewhere.js": "export const elsewhere = 2;" });
    expect((await until({ elsewhere: 2 })).elsewhere).toBe(2);
  });

  it("continues without a deleted module until it exists again", async () => {
    served = null;
    await rm(path.join(project.folder, "app.js"));
    await command.next(/The file .*app\.js does not exist\.[^]*Waiting for a change/);
    await serve();
    expect(served).not.toBeNull();
  });
});

(hasTerminal ? describe : describe.skip)("tsgi dev at a terminal whose port is in use", () => {
  it.each([
    ["y", /Ready in/],
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
    await command.ended;
  });
});
