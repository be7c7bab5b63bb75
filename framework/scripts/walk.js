/**
 * Measures the way of one request through the built framework, from the socket to the socket: the functions that it
 * enters, by V8's precise coverage, with their files by the source maps. The requests are warm and come on one
 * kept-alive connection. Writes the tables of `docs/architecture.md`.
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

// Maps are read when a module is loaded, so the framework is imported below this line. In `build` each module has a file
// of its own, with the names of the sources.
process.setSourceMapsEnabled(true);
const { App, Path, t } = await import("../build/index.js");
const { serve } = await import("../build/node.js");

const FRAMEWORK = path.dirname(import.meta.dirname);
const SOURCES = path.join(FRAMEWORK, "src");
const PAGE = path.join(FRAMEWORK, "docs/architecture.md");

/** Requests before the measured one: what is made at first use is made, and buffers have their size. */
const WARM_UP = 100;

const BODY = JSON.stringify({ name: "ada", email: "ada@example.com" });
const FIELDS = `Content-Type: application/json\r\nContent-Length: ${BODY.length}`;

/** The requests, by the titles of their columns. */
const REQUESTS = {
  GET: "GET /notes/4 HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "typed GET": "GET /items/4 HTTP/1.1\r\nHost: localhost\r\n\r\n",
  POST: `POST /users HTTP/1.1\r\nHost: localhost\r\n${FIELDS}\r\n\r\n${BODY}`,
};

/** Routes with a text parameter; with a typed one and `returns`; with a validated JSON body and `returns`. */
function createApp(logger) {
  const app = new App({ logger });
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
    // The server's work behind the last byte belongs to the request.
    await new Promise((resolve) => setImmediate(resolve));
  }

  #isComplete() {
    const end = this.#received.indexOf("\r\n\r\n");
    const length = /\r\ncontent-length: (\d+)\r\n/i.exec(this.#received)?.[1];
    return end !== -1 && length !== undefined && this.#received.length >= end + 4 + Number(length);
  }
}

/** The functions that a request enters, without the code of modules itself, which has no name. */
async function findEntered(session, send) {
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await session.post("Profiler.takePreciseCoverage");
  await send();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  return result.flatMap(({ scriptId, url, functions }) => {
    const entered = functions.filter(({ functionName, ranges }) => functionName !== "" && ranges[0].count > 0);
    return entered.map(({ functionName, ranges }) => ({ scriptId, url, name: functionName, ...ranges[0] }));
  });
}

/** The functions that one request enters: the fewest of three, as the server's timer may run beside one of them. */
async function findEnteredAlone(session, send) {
  const tries = [];
  for (let tried = 0; tried < 3; tried += 1) tries.push(await findEntered(session, send));
  return tries.toSorted((one, other) => one.length - other.length)[0];
}

const builtTexts = new Map();

/** The line and column of an offset in a built file, counted from 0. */
function positionAt(file, offset) {
  const text = builtTexts.get(file) ?? readFileSync(file, "utf8");
  builtTexts.set(file, text);
  const lines = text.slice(0, offset).split("\n");
  return { lineNumber: lines.length - 1, columnNumber: lines.at(-1).length };
}

/** The functions of the framework's sources, each with its file and position; generated code has neither. */
function locate(functions) {
  return functions.flatMap(({ scriptId, url, name, startOffset, endOffset }) => {
    if (!url.startsWith("file:")) return [];
    const built = fileURLToPath(url);
    const start = { scriptId, ...positionAt(built, startOffset) };
    const { originalSource } = findSourceMap(built)?.findEntry(start.lineNumber, start.columnNumber) ?? {};
    const file = originalSource === undefined ? ".." : path.relative(SOURCES, fileURLToPath(originalSource));
    const end = { scriptId, ...positionAt(built, endOffset) };
    return file.startsWith("..") ? [] : [{ name, file: file.replaceAll(path.sep, "/"), start, end }];
  });
}

/** The first place in a function where it can be stopped. At its very start stands the code around it. */
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

/** The walk of each request: its files in the order of entering, with the names of their functions. */
async function measure() {
  const none = () => {};
  const logger = { debug: none, info: none, warn: none, error: console.error, child: () => logger };
  const server = await serve(createApp(logger), { port: 0, host: "127.0.0.1", logger });
  const client = await Client.open(server.url);
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Debugger.enable");
  const walks = {};
  for (const [title, request] of Object.entries(REQUESTS)) {
    const send = () => client.send(request);
    for (let sent = 0; sent < WARM_UP; sent += 1) await send();
    const walk = (walks[title] = {});
    for (const { file, name } of await sortByEntry(session, locate(await findEnteredAlone(session, send)), send)) {
      (walk[file] ??= []).push(name);
    }
  }
  session.disconnect();
  client.socket.destroy();
  await server.close();
  return walks;
}

/** The files of all walks in the order of the longest, those of another behind the file that it enters before them. */
function mergeFiles(walks) {
  const [longest, ...others] = walks.map((walk) => Object.keys(walk)).toSorted((a, b) => b.length - a.length);
  for (const files of others) {
    for (const [index, file] of files.entries()) {
      if (!longest.includes(file)) longest.splice(longest.indexOf(files[index - 1]) + 1, 0, file);
    }
  }
  return longest;
}

/** A function's name for readers. A class has one for its fields, and what is assigned to a property all on the way. */
function shownName(name) {
  return name === "<instance_members_initializer>" ? [] : [`\`${name.split(".")[0]}\``];
}

/** One entry of the list: the file, the requests that enter it unless all do, its functions. */
function writeEntry(walks, file, number) {
  const entering = Object.entries(walks).filter(([, walk]) => file in walk);
  const titles =
    entering.length === Object.keys(walks).length ? "" : ` (${entering.map(([title]) => title).join(", ")})`;
  const names = new Set(entering.flatMap(([, walk]) => walk[file].flatMap(shownName)));
  const text = `${number}. \`${file}\`${titles}: ${[...names].join(", ")}`;
  const indentation = " ".repeat(`${number}. `.length);
  return text.replaceAll(/(.{60,110},) (?=.{20})/g, `$1\n${indentation}`);
}

function write(walks) {
  const sum = (walk) => Object.values(walk).reduce((total, names) => total + names.length, 0);
  const figures = Object.entries(walks).map(
    ([title, walk]) => `| ${title} | ${Object.keys(walk).length} | ${sum(walk)} |\n`,
  );
  const files = mergeFiles(Object.values(walks)).map((file, index) => writeEntry(walks, file, index + 1));
  return `\n\n| Request | Files | Functions |\n| --- | --: | --: |\n${figures.join("")}\n${files.join("\n")}\n\n`;
}

const walks = await measure();
if (process.argv.includes("--json")) process.stdout.write(`${JSON.stringify(walks)}\n`);
else {
  const page = readFileSync(PAGE, "utf8");
  const [before, , after] = page.split(/(?<=<!-- walk -->)([^]*)(?=<!-- end of walk -->)/);
  writeFileSync(PAGE, before + write(walks) + after);
}
