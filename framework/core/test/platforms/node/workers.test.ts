import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "@jest/globals";
import { Wire } from "./_http.js";
import { ServerProcess } from "./_process.js";

const APP = `
  import cluster from "node:cluster";
  const app = async (scope, receive, send) => {
    if (scope.type === "lifespan") {
      await receive();
      await send({ type: "lifespan.startup.complete" });
      await receive();
      say("shutdown ran in " + process.pid);
      return send({ type: "lifespan.shutdown.complete" });
    }
    if (scope.path === "/die") process.exit(3);
    if (scope.path === "/stuck") { say("stuck in " + process.pid); await new Promise(() => {}); }
    if (scope.path === "/block") { say("blocks in " + process.pid); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); }
    await send({ type: "http.response.start", status: 200, headers: [] });
    await send({ type: "http.response.body", body: Buffer.from("<" + process.pid + " version 1>") });
  };
`;
const SERVE = `
  const server = await serve(app, { port: 0, workers: 2, shutdownTimeoutMs: 1000 });
  if (cluster.isPrimary) say("url " + server.url + " " + server.loop);
`;

async function portOf(process: ServerProcess): Promise<number> {
  return Number(new URL(await process.said(/^url (\S+)/m)).port);
}

async function ask(port: number, path = "/"): Promise<string> {
  await using wire = new Wire(port);
  return await wire.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`).closed;
}

/** Sends requests on separate connections until the given number of processes has responded. */
async function pidsOf(port: number, count: number): Promise<Set<string>> {
  const pids = new Set<string>();
  while (pids.size < count) {
    const pid = /<(\d+) /.exec(await ask(port))?.[1];
    if (pid !== undefined) pids.add(pid);
  }
  return pids;
}

/** Waits for a line on stderr. */
async function warned(process: ServerProcess, pattern: RegExp): Promise<void> {
  while (!pattern.test(process.stderr)) {
    await new Promise((resolve) => process.child.stderr?.once("data", resolve));
  }
}

describe("serve with workers", () => {
  it("responds from the same number of processes on one port, and runs shutdown in each on SIGTERM", async () => {
    await using server = await ServerProcess.start(APP + SERVE);
    const port = await portOf(server);
    const pids = await pidsOf(port, 2);
    expect(pids).not.toContain(String(server.child.pid));
    expect(server.stdout).toMatch(/^url http:\/\/127\.0\.0\.1:\d+ libuv$/m);
    server.kill("SIGTERM");
    const { status, stdout } = await server.ended;
    const stopped = Array.from(stdout.matchAll(/shutdown ran in (\d+)/g), ([, pid]) => pid ?? "");
    expect(new Set(stopped)).toEqual(pids);
    expect(status).toBe(0);
  });

  it("puts another worker in the place of one that dies, on the same port", async () => {
    await using server = await ServerProcess.start(APP + SERVE);
    const port = await portOf(server);
    const before = await pidsOf(port, 2);
    expect(await ask(port, "/die")).toBe("");
    await warned(server, /A worker ended \(worker \d+: status 3\)\. Another takes its place\./);
    const known = await pidsOf(port, 2);
    expect([...known].filter((pid) => before.has(pid))).toHaveLength(1);
  });

  it("restarts one worker after the other on SIGHUP, with the code as it is now, and loses no request", async () => {
    await using server = await ServerProcess.start(APP + SERVE);
    const port = await portOf(server);
    const before = await pidsOf(port, 2);
    await writeFile(server.main, (await readFile(server.main, "utf8")).replaceAll("version 1", "version 2"));
    const restarted = new AbortController();
    let answered = 0;
    /** Sends one request after the other; takes a new connection when it is told to close, and rejects when one is lost. */
    const client = async () => {
      while (!restarted.signal.aborted) {
        await using wire = new Wire(port);
        while (!/connection: close/i.test(wire.received) && !restarted.signal.aborted) {
          wire.received = "";
          await wire.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n").until(/>$/);
          answered++;
        }
      }
    };
    const clients = Promise.allSettled(Array.from({ length: 20 }, client));
    server.kill("SIGHUP");
    await warned(server, /All workers are restarted/);
    restarted.abort();
    expect((await clients).filter(({ status }) => status === "rejected")).toEqual([]);
    expect(answered).toBeGreaterThan(100);
    expect([...(await pidsOf(port, 2))].filter((pid) => before.has(pid))).toEqual([]);
    expect(await ask(port)).toContain("version 2");
  });

  it("restarts its workers after their start if SIGHUP arrives before they listen", async () => {
    await using server = await ServerProcess.start(`
      import cluster from "node:cluster";
      if (cluster.isPrimary) {
        process.on("SIGHUP", () => Object.values(cluster.workers).forEach((worker) => worker.send("go on")));
      }
      const app = async (scope, receive, send) => {
        await receive();
        say("starting " + cluster.worker.id);
        if (cluster.worker.id === 1) await new Promise((resolve) => process.once("message", resolve));
        await send({ type: "lifespan.startup.complete" });
        await receive();
        await send({ type: "lifespan.shutdown.complete" });
      };
      await serve(app, { port: 0, workers: 2 });`);
    await server.said(/starting 1$/m);
    server.kill("SIGHUP");
    await warned(server, /All workers are restarted/);
    expect(new Set(server.stdout.match(/starting \d+/g)).size).toBe(4);
  });

  it("keeps its workers when the new code does not start", async () => {
    await using server = await ServerProcess.start(APP + SERVE);
    const port = await portOf(server);
    const before = await pidsOf(port, 2);
    await writeFile(server.main, "process.exit(5);");
    server.kill("SIGHUP");
    await warned(server, /A new worker does not start: the other workers continue to run\./);
    expect(await pidsOf(port, 2)).toEqual(before);
  });

  it("exits with a status if a worker does not start, with the reason", async () => {
    await using server = await ServerProcess.start(`
      await serve(async (scope, receive, send) => {
        await receive();
        await send({ type: "lifespan.startup.failed", message: "no database" });
      }, { port: 0, workers: 2 });
      say("opened");`);
    const { status, stdout, stderr } = await server.ended;
    expect(status).not.toBe(0);
    expect(stdout).toBe("");
    expect(stderr.match(/no database/g)).toHaveLength(1);
    expect(stderr).toMatch(/A worker exited before it was listening \(worker \d+: status 1\)\./);
  });

  it("waits longer each time when workers die as they come", async () => {
    await using server = await ServerProcess.start(`
${APP}${SERVE}`);
    const port = await portOf(server);
    await pidsOf(port, 2);
    await writeFile(server.main, "process.exit(5);");
    await ask(port, "/die");
    await warned(server, /delayMs=0[^]*delayMs=100[^]*delayMs=200[^]*delayMs=400/);
    expect(await ask(port)).toContain("version 1");
  });

  it.each([
    ["waits for ever", "/stuck", /stuck in/],
    ["blocks its loop", "/block", /blocks in/],
  ])("kills a worker whose handler %s, with a status", async (_what, path, said) => {
    await using server = await ServerProcess.start(APP + SERVE);
    await using wire = new Wire(await portOf(server));
    wire.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await server.said(said);
    server.kill("SIGTERM");
    expect((await server.ended).status).toBe(1);
  });

  it("closes on request, and the process continues", async () => {
    await using server = await ServerProcess.start(
      `${APP}${SERVE}
      if (cluster.isPrimary) process.on("SIGUSR2", () => server.close().then(() => say("closed"), (error) => say(String(error))));`,
    );
    const port = await portOf(server);
    await pidsOf(port, 2);
    server.kill("SIGUSR2");
    await server.said(/^closed$/m);
    expect(await server.ended).toMatchObject({ status: 0 });
  });

  it("serves two applications from the same workers", async () => {
    await using server = await ServerProcess.start(`${APP}
      const first = await serve(app, { port: 0, workers: 2 });
      const second = await serve(app, { port: 0, workers: 2 });
      if (cluster.isPrimary) say("urls " + first.url + " " + second.url);`);
    const ports = (await server.said(/^urls (.*)$/m)).split(" ").map((url) => Number(new URL(url).port));
    const [first = 0, second = 0] = ports;
    expect(await pidsOf(first, 2)).toEqual(await pidsOf(second, 2));
    server.kill("SIGTERM");
    expect(await server.ended).toMatchObject({ status: 0 });
  });

  it("rejects a number of workers that is not a whole number from 1 on", async () => {
    await using server = await ServerProcess.start(`${APP}
      for (const workers of [0, -1, 1.5]) await serve(app, { port: 0, workers }).catch(({ message }) => say(message));`);
    const { status, stdout } = await server.ended;
    expect(status).toBe(0);
    expect(stdout.match(/expected workers to be a whole number from 1 on/g)).toHaveLength(3);
  });
});

describe("serve with workers in another cluster, such as PM2", () => {
  it.each(["worker.process.kill('SIGINT')", "worker.kill()"])(
    "serves on a free port, and each process stops immediately with status 0 after its shutdown: %s",
    async (stop) => {
      await using server = await ServerProcess.start(`${APP}
        if (cluster.isPrimary) {
          process.on("SIGUSR2", () => Object.values(cluster.workers).forEach((worker) => ${stop}));
          cluster.on("exit", (worker, status, signal) => say("ended with " + (signal ?? status)));
          cluster.fork();
          cluster.fork();
        } else {
          const server = await serve(app, { port: 0, workers: 2, shutdownTimeoutMs: 60_000 });
          say("url " + server.url);
          setInterval(() => {}, 1000); // a handle that alone would keep the process alive
        }`);
      const port = await portOf(server);
      await pidsOf(port, 2);
      server.kill("SIGUSR2");
      const { stdout } = await server.ended;
      expect(stdout.match(/shutdown ran/g)).toHaveLength(2);
      expect(stdout.match(/ended with .*/g)).toEqual(["ended with 0", "ended with 0"]);
      expect(server.stderr.match(/The option workers is ignored: .*/g)).toHaveLength(2);
    },
  );
});
