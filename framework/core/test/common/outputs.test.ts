/** Programs whose output is read by a process that ends first. */
import { expect, it } from "@jest/globals";
import { ServerProcess } from "../platforms/node/_process.js";

/** A server that logs each request on both outputs, and in a handler. */
const server = (options: string, logger = "undefined") => `
import { App } from "./index.js";
import { accessLog } from "./middleware/index.js";
const logger = ${logger};
const app = new App({ logger, instrumentation: accessLog() });
app.get("/", async () => {
  console.log("handled");
  console.error("handled");
  return process.pid;
});
app.get("/broken", async () => { throw new Error("broken"); });
const { url } = await serve(app, { port: 0, shutdownTimeoutMs: 5_000, ${options}, logger });
if (process.send === undefined) say("serves " + url);
`;

const SILENT = "{ debug() {}, info() {}, warn() {}, error() {} }";

it.each([
  ["one process", server("workers: 1")],
  ["two workers", server("workers: 2")],
  ["a custom logger", server("workers: 1", SILENT)],
])("a server with %s continues if the readers of its outputs have ended, and stops gracefully", async (_, program) => {
  await using running = await ServerProcess.start(program);
  const url = await running.said(/serves (\S+)/);
  running.child.stdout?.destroy();
  running.child.stderr?.destroy();
  for (let count = 0; count < 10; count++) {
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(`${url}/broken`)).status).toBe(500);
  }
  running.child.kill("SIGTERM");
  expect(await running.ended).toMatchObject({ status: 0, signal: null });
});

it("a closed standard output is reported once on the standard error", async () => {
  await using running = await ServerProcess.start(server("workers: 1"));
  const url = await running.said(/serves (\S+)/);
  running.child.stdout?.destroy();
  for (let count = 0; count < 5; count++) await fetch(url);
  running.child.kill("SIGTERM");
  const { status, stderr } = await running.ended;
  expect(status).toBe(0);
  expect(stderr.match(/WARN The standard output cannot be written: its lines are lost\./g)).toHaveLength(1);
  expect(stderr).toContain("EPIPE");
});
