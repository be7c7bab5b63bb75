/**
 * Measures the path of one request through the built framework, from the socket to the socket: every function that it
 * enters, by V8's precise coverage, with its file by the source maps. Functions without a name and generated functions
 * count too: a compiled route consists of them. The requests are warm and are sent on one kept-alive connection.
 * Writes the tables of `docs/architecture.md`.
 *
 *     node framework/scripts/walk.js            # writes the tables
 *     node framework/scripts/walk.js --json     # prints the measurement
 */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { findSourceMap } from "node:module";
import { connect } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";

// Maps are read when a module is loaded, so the framework is imported below this line. In `build` each module is a
// separate file, with the names of the sources.
process.setSourceMapsEnabled(true);
// The server examines its connections at an interval, which is not part of a request.
const { setInterval } = globalThis;
globalThis.setInterval = (_examine, ms) => setInterval(() => {}, ms);
const { App, Path, t } = await import("../core/build/index.js");
const { serve } = await import("../core/build/node.js");

const FRAMEWORK = path.dirname(import.meta.dirname);
const SOURCES = path.join(FRAMEWORK, "core/src");
const PAGE = path.join(FRAMEWORK, "docs/architecture.md");

/** Requests before the measured one: lazily created objects exist then, and buffers have their size. */
const WARM_UP = 100;

const BODY = JSON.stringify({ name: "ada", email: "ada@example.com" });
const FIELDS = `Content-Type: application/json\r\nContent-Length: ${BODY.length}`;

const POST = `POST /users HTTP/1.1\r\nHost: localhost\r\n${FIELDS}\r\n\r\n${BODY}`;

/** A middleware that forwards each message. */
const forward = (app) => (scope, receive, send) => app(scope, receive, (message) => send(message));

/** The measured requests: the title of the column, the bytes, and the middleware of the application. */
const REQUESTS = [
  { title: "GET", request: "GET /notes/4 HTTP/1.1\r\nHost: localhost\r\n\r\n", middleware: [] },
  { title: "typed GET", request: "GET /items/4 HTTP/1.1\r\nHost: localhost\r\n\r\n", middleware: [] },
  { title: "POST", request: POST, middleware: [] },
  { title: "POST with a middleware", request: POST, middleware: [forward] },
];

/** The file of generated functions, such as the lookup of a route. */
const GENERATED = "generated code";

/** Routes with a string parameter; with a typed one and `returns`; with a validated JSON body and `returns`. */
function createApp(logger, middleware) {
  const app = new App({ logger, middleware });
  app.get("/notes/{id}", async ({ id }) => ({ id }));
  const Item = t.Object({ id: t.Integer() });
  app.get("/items/{id}", { params: { id: Path(t.Integer({ minimum: 1 })) }, returns: Item }, async ({ id }) => ({
    id,
  }));
  const NewUser = t.Object({ name: t.String(), email: t.String() });
  const User = t.Object({ id: t.Integer(), name: t.String() });
  app.post("/users", { params: { user: NewUser }, returns: User }, async ({ user }) => ({ id: 1, ...user }));
  return app;
}

/** A kept-alive connection that sends one request at a time, and reads its response by the Content-Length. */
class Client {
  #received = "";

  static async open(url) {
    const { hostname, port } = new URL(url);
    const client = new Client(connect(Number(port), hostname));
    await once(client.socket, "connect");
    return client;
  }

  constructor(socket) {
    this.socket = socket.setEncoding("latin1");
    socket.on("data", (text) => (this.#received += text));
  }

  async send(request) {
    this.#received = "";
    this.socket.write(request);
    while (!this.#isComplete()) await once(this.socket, "data");
    if (!this.#received.startsWith("HTTP/1.1 200 ")) throw new Error(`Expected 200, received ${this.#received}`);
    // The server's work after the last byte belongs to the request.
    await new Promise((resolve) => setImmediate(resolve));
  }

  #isComplete() {
    const end = this.#received.indexOf("\r\n\r\n");
    const length = /\r\ncontent-length: (\d+)\r\n/i.exec(this.#received)?.[1];
    return end !== -1 && length !== undefined && this.#received.length >= end + 4 + Number(length);
  }
}

/** The functions that a request enters. The body of a module is a function without a name at offset 0: it does not count. */
async function findEntered(session, send) {
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await session.post("Profiler.takePreciseCoverage");
  await send();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  return result.flatMap(({ scriptId, url, functions }) => {
    const entered = functions.filter(({ functionName, ranges: [{ count, startOffset }] }) => {
      return count > 0 && (functionName !== "" || startOffset > 0);
    });
    return entered.map(({ functionName, ranges }) => ({ scriptId, url, name: functionName, ...ranges[0] }));
  });
}

/** The line and column of an offset in a text, counted from 0. */
function positionAt(text, offset) {
  const lines = text.slice(0, offset).split("\n");
  return { lineNumber: lines.length - 1, columnNumber: lines.at(-1).length };
}

/** The source file of a position in a script, relative to the framework's sources, or `null` if it is not one of them. */
function findSource(url, { lineNumber, columnNumber }) {
  if (url === "") return GENERATED;
  if (!url.startsWith("file:")) return null;
  const { originalSource } = findSourceMap(fileURLToPath(url))?.findEntry(lineNumber, columnNumber) ?? {};
  const file = originalSource === undefined ? ".." : path.relative(SOURCES, fileURLToPath(originalSource));
  return file.startsWith("..") ? null : file.replaceAll(path.sep, "/");
}

/** The functions of the framework, each with its file and position. */
async function locate(session, functions) {
  const texts = new Map();
  const located = [];
  for (const { scriptId, url, name, startOffset, endOffset } of functions) {
    if (!texts.has(scriptId)) {
      texts.set(scriptId, (await session.post("Debugger.getScriptSource", { scriptId })).scriptSource);
    }
    const start = { scriptId, ...positionAt(texts.get(scriptId), startOffset) };
    const end = { scriptId, ...positionAt(texts.get(scriptId), endOffset) };
    const file = findSource(url, start);
    if (file !== null) located.push({ name, file, start, end });
  }
  return located;
}

/** The first place in a function at which execution can be paused. Its very start belongs to the surrounding code. */
async function findBreakLocation(session, { start, end }) {
  const { locations } = await session.post("Debugger.getPossibleBreakpoints", { start, end });
  const isInside = (one) => one.lineNumber !== start.lineNumber || one.columnNumber !== start.columnNumber;
  return locations.find(isInside) ?? locations[0];
}

/**
 * Sorts functions by their first entry. Each has a breakpoint that never stops: its condition notes the function, and
 * is false.
 */
async function sortByEntry(session, functions, send) {
  const byLocation = new Map();
  for (const entered of functions) {
    const key = JSON.stringify(await findBreakLocation(session, entered));
    byLocation.set(key, [...(byLocation.get(key) ?? []), entered]);
  }
  const order = new Set();
  globalThis.noteEntry = (key) => byLocation.get(key).forEach((entered) => order.add(entered));
  const breakpoints = [];
  for (const key of byLocation.keys()) {
    const condition = `(noteEntry(${JSON.stringify(key)}), false)`;
    breakpoints.push(await session.post("Debugger.setBreakpoint", { location: JSON.parse(key), condition }));
  }
  await send();
  for (const { breakpointId } of breakpoints) await session.post("Debugger.removeBreakpoint", { breakpointId });
  return [...new Set([...order, ...functions])];
}

/** The walk of one request: its files in the order of entering, with the names of their functions. */
async function measure(session, { request, middleware }) {
  const none = () => {};
  const logger = { debug: none, info: none, warn: none, error: console.error, child: () => logger };
  const server = await serve(createApp(logger, middleware), { port: 0, host: "127.0.0.1", logger });
  const client = await Client.open(server.url);
  const send = () => client.send(request);
  for (let sent = 0; sent < WARM_UP; sent += 1) await send();
  const walk = {};
  const functions = await locate(session, await findEntered(session, send));
  for (const { file, name } of await sortByEntry(session, functions, send)) {
    (walk[file] ??= []).push(name);
  }
  client.socket.destroy();
  await server.close();
  return walk;
}

async function measureAll() {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Debugger.enable");
  const walks = {};
  for (const measured of REQUESTS) walks[measured.title] = await measure(session, measured);
  session.disconnect();
  return walks;
}

/**
 * The files of all walks in the order of the longest, and files of another walk after the file that it enters before
 * them.
 */
function mergeFiles(walks) {
  const [longest, ...others] = walks.map((walk) => Object.keys(walk)).toSorted((a, b) => b.length - a.length);
  for (const files of others) {
    for (const [index, file] of files.entries()) {
      if (!longest.includes(file)) longest.splice(longest.indexOf(files[index - 1]) + 1, 0, file);
    }
  }
  return longest;
}

/** The names of a file's functions for readers: one for `a.b`, and the number of those without a name. */
function shownNames(names) {
  const named = names.filter((name) => name !== "" && name !== "<instance_members_initializer>");
  const others = names.filter((name) => name === "").length;
  const shown = [...new Set(named.map((name) => `\`${name.split(".")[0]}\``))];
  if (names.every((name) => name === "<instance_members_initializer>")) return ["the fields of its class"];
  return others === 0 ? shown : [...shown, others === 1 ? "one without a name" : `${others} without a name`];
}

/** The names in several walks of a file, each as often as in the walk that has it most often. */
function mergeNames(walks) {
  const merged = [];
  for (const names of walks) {
    const left = [...merged];
    for (const name of names) {
      const index = left.indexOf(name);
      if (index === -1) merged.push(name);
      else left.splice(index, 1);
    }
  }
  return merged;
}

/** One entry of the list: the file, the requests that enter it unless all do, its functions. */
function writeEntry(walks, file, number) {
  const entering = Object.entries(walks).filter(([, walk]) => file in walk);
  const titles =
    entering.length === Object.keys(walks).length ? "" : ` (${entering.map(([title]) => title).join(", ")})`;
  const names = shownNames(mergeNames(entering.map(([, walk]) => walk[file])));
  const shownFile = file === GENERATED ? GENERATED : `\`${file}\``;
  const text = `${number}. ${shownFile}${titles}: ${names.join(", ")}`;
  const indentation = " ".repeat(`${number}. `.length);
  return text.replaceAll(/(.{60,110},) (?=.{20})/g, `$1\n${indentation}`);
}

function write(walks) {
  const sum = (walk) => Object.values(walk).reduce((total, names) => total + names.length, 0);
  const countFiles = (walk) => Object.keys(walk).filter((file) => file !== GENERATED).length;
  const figures = Object.entries(walks).map(([title, walk]) => `| ${title} | ${countFiles(walk)} | ${sum(walk)} |\n`);
  const files = mergeFiles(Object.values(walks)).map((file, index) => writeEntry(walks, file, index + 1));
  return `\n\n| Request | Files | Functions |\n| --- | --: | --: |\n${figures.join("")}\n${files.join("\n")}\n\n`;
}

const walks = await measureAll();
if (process.argv.includes("--json")) process.stdout.write(`${JSON.stringify(walks)}\n`);
else {
  const page = readFileSync(PAGE, "utf8");
  const [before, , after] = page.split(/(?<=<!-- walk -->)([^]*)(?=<!-- end of walk -->)/);
  writeFileSync(PAGE, before + write(walks) + after);
}
