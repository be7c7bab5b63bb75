import { describe, expect, it } from "@jest/globals";
import { Wire } from "./_http.js";
import { ServerProcess } from "./_process.js";

const LIFESPAN = `
  if (scope.type === "lifespan") {
    await receive();
    await send({ type: "lifespan.startup.complete" });
    await receive();
    say("shutdown ran");
    return send({ type: "lifespan.shutdown.complete" });
  }`;

const SLOW = `
  let release;
  const released = new Promise((resolve) => (release = resolve));
  const app = async (scope, receive, send) => {${LIFESPAN}
    say("entered " + scope.path);
    await (scope.path === "/stuck" ? new Promise(() => {}) : released);
    await send({ type: "http.response.start", status: 200, headers: [] });
    await send({ type: "http.response.body", body: Buffer.from("finished") });
    await new Promise(setImmediate);
    say("task ran");
  };
  process.on("SIGUSR2", () => release());
  const { url } = await serve(app, { port: 0, shutdownTimeoutMs: 300 });
  setInterval(() => {}, 1000); // a handle that alone would keep the process alive
  process.on("SIGTERM", () => say("stopping"));
  process.on("SIGINT", () => say("stopping"));
  say("url " + url);`;

async function portOf(process: ServerProcess): Promise<number> {
  return Number(new URL(await process.said(/^url (.*)$/m)).port);
}

describe("a signal", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "%s ends an idle server with status 0 after the shutdown hooks",
    async (signal) => {
      await using server = await ServerProcess.start(SLOW);
      await portOf(server);
      server.kill(signal);
      expect(await server.ended).toMatchObject({ status: 0, stdout: expect.stringContaining("shutdown ran") });
    },
  );

  it("lets the running request and its background task finish first", async () => {
    await using server = await ServerProcess.start(SLOW.replace("300", "10000"));
    await using wire = new Wire(await portOf(server));
    wire.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    await server.said(/entered \/slow/);
    server.kill("SIGTERM");
    await server.said(/stopping/);
    server.kill("SIGUSR2");
    expect(await wire.closed).toMatch(/200 OK[^]*\r\nconnection: close\r\n[^]*finished$/i);
    const { status, stdout } = await server.ended;
    expect(stdout).toMatch(/task ran\nshutdown ran\n$/);
    expect(status).toBe(0);
  });

  it("ends forcibly at the limit, with a status and the path that was stuck", async () => {
    await using server = await ServerProcess.start(SLOW);
    await using wire = new Wire(await portOf(server));
    wire.write("GET /stuck HTTP/1.1\r\nHost: a\r\n\r\n");
    await server.said(/entered \/stuck/);
    server.kill("SIGTERM");
    const { status, stderr } = await server.ended;
    expect(stderr).toContain("Shutdown did not finish within 300 ms; still running: GET /stuck.");
    expect(status).toBe(1);
  });

  it("lets the running request finish if it arrives twice, as from a terminal and from npm", async () => {
    await using server = await ServerProcess.start(SLOW.replace("300", "10000"));
    await using wire = new Wire(await portOf(server));
    wire.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    await server.said(/entered \/slow/);
    server.kill("SIGINT");
    await server.said(/stopping/);
    server.kill("SIGINT");
    await server.said(/stopping\nstopping/);
    server.kill("SIGUSR2");
    expect(await wire.closed).toMatch(/finished$/);
    expect(await server.ended).toMatchObject({ status: 0, stdout: expect.stringMatching(/shutdown ran\n$/) });
  });

  it("ends the process immediately if it is repeated, with a status and the path that was running", async () => {
    await using server = await ServerProcess.start(SLOW.replace("300", "60000"));
    await using wire = new Wire(await portOf(server));
    wire.write("GET /stuck HTTP/1.1\r\nHost: a\r\n\r\n");
    await server.said(/entered \/stuck/);
    const impatience = setInterval(() => server.kill("SIGINT"), 100);
    const { status, stderr } = await server.ended;
    clearInterval(impatience);
    expect(stderr).toContain("SIGINT again: ended while these still ran: GET /stuck.");
    expect(status).toBe(1);
  });

  it.each([
    ["that takes too long", "300", "SIGTERM"],
    ["given again", "60000", "SIGINT"],
  ] as const)("%s writes the path that was running as one line without controls", async (_how, limit, signal) => {
    await using server = await ServerProcess.start(SLOW.replace("300", limit));
    await using wire = new Wire(await portOf(server));
    wire.write("GET /stuck/%0A2026-01-01%20INFO%20forged%1B%5B2J%C2%9B2J%E2%80%AE HTTP/1.1\r\nHost: a\r\n\r\n");
    await server.said(/entered \/stuck/);
    server.kill(signal);
    const impatience = setInterval(() => server.kill(signal), 700);
    const { stderr } = await server.ended;
    clearInterval(impatience);
    expect(stderr).toContain("GET /stuck/\\n2026-01-01 INFO forged\\u001b[2J\\u009b2J\\u202e");
    expect(stderr).not.toMatch(/^2026-01-01 INFO forged/m);
  });

  it("to the shell of an npm script ends the server, although the shell does not pass it on", async () => {
    await using server = await ServerProcess.start(`
      import { spawn } from "node:child_process";
      if (process.argv[2] === undefined) {
        // After the last command, a shell may replace itself by the server.
        const shell = spawn("sh", ["-c", '"$0" "$1" inner; true', process.execPath, process.argv[1]], {
          env: { ...process.env, npm_lifecycle_event: "start" },
          stdio: "inherit",
        });
        process.on("SIGUSR2", () => shell.kill("SIGTERM"));
        shell.on("exit", (_status, signal) => say("the shell ended by " + signal));
      } else {${SLOW}
      }`);
    await portOf(server);
    server.kill("SIGUSR2");
    const { stdout } = await server.ended;
    expect(stdout).toMatch(/the shell ended by SIGTERM[^]*shutdown ran/);
  });

  describe("during startup", () => {
    /** Without a listener, the signal would end the process: the status would be `null`. */
    const start = async (second: string, signal: "SIGTERM" | "SIGINT" = "SIGTERM", options = "") => {
      const server = await ServerProcess.start(`
        import { App } from "./index.js";
        const app = new App();
        const signalled = new Promise((resolve) => process.on("${signal}", resolve));
        app.onStartup(() => { say("first starts"); return () => say("first stops"); });
        app.onStartup(async () => { say("second starts"); await ${second}; return () => say("second stops"); });
        app.onStartup(() => say("third starts"));
        serve(app, { port: 0, shutdownTimeoutMs: 2000, ${options} }).then(() => say("listens"), (error) => say(String(error)));
        setInterval(() => {}, 1000);`);
      await server.said(/second starts/);
      server.kill(signal);
      return server;
    };

    it("lets the startup complete if it does so in time, and undoes it", async () => {
      await using server = await start("signalled");
      const stdout = "first starts\nsecond starts\nthird starts\nsecond stops\nfirst stops\n";
      expect(await server.ended).toMatchObject({ status: 0, stdout, stderr: "" });
    });

    it.each([
      ["SIGTERM", ""],
      ["SIGINT", ""],
      ["SIGTERM", "workers: 2"],
    ] as const)("undoes the steps of an App before one that does not end: %s %s", async (signal, options) => {
      await using server = await start("new Promise(() => {})", signal, options);
      const stdout = "first starts\nsecond starts\nfirst stops\n";
      expect(await server.ended).toMatchObject({ status: 0, stdout, stderr: "" });
    });

    it("reports a startup that fails after it", async () => {
      await using server = await start("signalled.then(() => { throw new Error('no database'); })");
      const { status, stdout, stderr } = await server.ended;
      expect(stdout).toBe("first starts\nsecond starts\nfirst stops\n");
      expect(stderr).toBe("The application's startup failed: Error: no database\n");
      expect(status).toBe(1);
    });

    it("ends the process at the limit if an application without an abandoned startup does not complete it", async () => {
      await using server = await ServerProcess.start(`
        serve(async (scope, receive) => {
          await receive();
          say("starts");
          await new Promise(() => {});
        }, { port: 0, shutdownTimeoutMs: 300 }).then(() => say("listens"), (error) => say(String(error)));
        setInterval(() => {}, 1000);`);
      await server.said(/starts/);
      server.kill("SIGTERM");
      expect(await server.ended).toMatchObject({
        status: 1,
        stdout: "starts\n",
        stderr: "Shutdown did not finish within 300 ms; still running: lifespan.startup.\n",
      });
    });
  });

  it("is listened to before serve awaits anything, and no longer after a startup that failed", async () => {
    await using server = await ServerProcess.start(`
      const app = async (scope, receive, send) => {
        await receive();
        await send({ type: "lifespan.startup.failed", message: "no database" });
      };
      const starting = serve(app, { port: 0 });
      say("listeners " + process.listenerCount("SIGTERM") + process.listenerCount("SIGINT"));
      await starting.catch(() => {});
      say("listeners " + process.listenerCount("SIGTERM") + process.listenerCount("SIGINT"));`);
    expect(await server.ended).toMatchObject({ stdout: "listeners 11\nlisteners 00\n" });
  });

  it("is ignored with signals: false", async () => {
    await using server = await ServerProcess.start(SLOW.replace("port: 0,", "port: 0, signals: false,"));
    const port = await portOf(server);
    server.kill("SIGTERM");
    await server.said(/stopping/);
    await using wire = new Wire(port);
    wire.write("GET /still HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await server.said(/entered \/still/)).toBe("entered /still");
  });

  it("startup that fails ends the process with a status and never opens the port", async () => {
    await using server = await ServerProcess.start(`
      await serve(async (scope, receive, send) => {
        await receive();
        await send({ type: "lifespan.startup.failed", message: "no database" });
      }, { port: 0 });
      say("opened");`);
    expect(await server.ended).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringContaining("The application's startup failed: no database"),
    });
  });
});
