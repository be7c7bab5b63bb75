/**
 * A program that runs unchanged under every runtime: it serves applications on loopback, and receives commands over
 * HTTP to start, close and release them. Prints the address of its control server in one line.
 */
import { App, t } from "tsgi";
import { serve } from "tsgi/node";

const EMPTY = new Uint8Array(0);
const encoder = new TextEncoder();
const latin1 = (bytes) => Buffer.from(bytes).toString("latin1");
const quiet = () => {};

/** Servers that run, by name. */
const servers = new Map();
/** Log lines from `warn` on, told events of applications, and the number of calls of the echo. */
const seen = { lines: [], events: [], calls: 0 };
/** The messages that the scripted application sends. */
let script = [];
let gate = createGate();

function createGate() {
  let open = quiet;
  const opened = new Promise((resolve) => (open = resolve));
  return { opened, open };
}

const logger = {
  debug: quiet,
  info: quiet,
  warn: (_fields, message) => void seen.lines.push(message),
  error: ({ err }, message) => void seen.lines.push(`${message} ${String(err)}`),
};

async function readBody(receive) {
  const chunks = [];
  for (;;) {
    const message = await receive();
    if (message.type !== "http.request") throw new Error("disconnected");
    chunks.push(message.body ?? EMPTY);
    if (message.more_body !== true) return Buffer.concat(chunks);
  }
}

async function respond(send, status, text, headers = []) {
  await send({ type: "http.response.start", status, headers });
  await send({ type: "http.response.body", body: encoder.encode(text) });
}

/** Sends so many bytes in parts, each when the socket takes it. */
async function download(send, bytes) {
  const part = Buffer.alloc(65_536, "Q");
  await send({ type: "http.response.start", status: 200, headers: [] });
  for (let sent = 0; sent < bytes; sent += part.length) {
    await send({ type: "http.response.body", body: part.subarray(0, bytes - sent), more_body: true });
  }
  await send({ type: "http.response.body" });
}

/** Each by its path; every other path is the echo's. */
const routes = {
  "/next": (_scope, _receive, send) => respond(send, 200, "next"),
  "/unread": (_scope, _receive, send) => respond(send, 413, "too much"),
  "/download": (scope, _receive, send) => download(send, Number(latin1(scope.query_string))),
  "/count": async (_scope, receive, send) => respond(send, 200, `<${(await readBody(receive)).length}>`),
  "/held": async (_scope, receive, send) => {
    seen.events.push("held");
    await gate.opened;
    await respond(send, 200, `<${(await readBody(receive)).length}>`);
  },
  "/wait": async (_scope, receive) => {
    await receive();
    seen.events.push("waits");
    const { type } = await receive();
    seen.events.push(type);
  },
  "/events": (_scope, receive, send) => sendEvent("data: 1\n\n", receive, send),
  "/events/with-id": (_scope, receive, send) => sendEvent("id: 1\ndata: 1\n\n", receive, send),
  "/throw": () => Promise.reject(new Error("broken")),
};

/** Sends an event, and waits for the end of the request. */
async function sendEvent(event, receive, send) {
  await receive();
  const headers = [[encoder.encode("content-type"), encoder.encode("text/event-stream")]];
  await send({ type: "http.response.start", status: 200, headers });
  await send({ type: "http.response.body", body: encoder.encode(event), more_body: true });
  await receive();
}

async function echo(scope, receive, send) {
  seen.calls++;
  const body = await readBody(receive);
  const answer = {
    method: scope.method,
    scheme: scope.scheme,
    path: scope.path,
    query: latin1(scope.query_string),
    headers: Array.from(scope.headers, ([name, value]) => [latin1(name), latin1(value)]),
    client: typeof scope.client?.[0],
    body: latin1(body),
  };
  await respond(send, 200, JSON.stringify(answer));
}

/** The messages that refuse a WebSocket, by its path. */
const refusals = {
  "/forbidden": [{ type: "websocket.close" }],
  "/4004": [{ type: "websocket.close", code: 4004, reason: "no route" }],
  "/own": [
    { type: "websocket.http.response.start", status: 418, headers: [] },
    { type: "websocket.http.response.body", body: encoder.encode("teapot") },
  ],
};

/** Echoes, and does what some messages say. */
async function webSocket(scope, receive, send) {
  await receive();
  const refusal = refusals[scope.path];
  if (refusal !== undefined) {
    for (const message of refusal) await send(message);
    return;
  }
  const headers = [[encoder.encode("x-a"), encoder.encode("b")]];
  await send({ type: "websocket.accept", subprotocol: scope.subprotocols[0] ?? null, headers });
  for (;;) {
    const message = await receive();
    if (message.type !== "websocket.receive") {
      seen.events.push(`disconnect ${message.code}`);
      return;
    }
    if (message.text === "return") return;
    if (message.text === "throw") throw new Error("broken");
    if (message.text === "hold") await gate.opened;
    await send({ type: "websocket.send", text: message.text, bytes: message.bytes });
  }
}

const api = new App({ title: "Runtimes" });
const User = t.Object({ name: t.String({ minLength: 1 }), age: t.Integer({ minimum: 0 }) });
api.get("/users/{id}", { params: { id: t.Integer() } }, ({ id }) => ({ id }));
api.post("/users", { params: { user: User }, returns: User, statusCode: 201 }, async ({ user }) => user);

const applications = {
  api,
  async routes(scope, receive, send) {
    if (scope.type === "websocket") await webSocket(scope, receive, send);
    else if (scope.type === "http") await (routes[scope.path] ?? echo)(scope, receive, send);
  },
  async scripted(scope, _receive, send) {
    if (scope.type !== "http") return;
    if (scope.path === "/next") return respond(send, 200, "next");
    for (const message of script) await send(message);
  },
};

const commands = {
  runtime: () => ({ name: ["bun", "deno"].find((name) => name in process.versions) ?? `node${process.versions.node}` }),
  async start({ name, app = "routes", options = {} }) {
    const server = await serve(applications[app], { port: 0, signals: false, logger, ...options });
    servers.set(name, server);
    return { url: server.url, loop: server.loop };
  },
  async close({ name }) {
    await servers.get(name).close();
    return {};
  },
  async seen() {
    const { lines, events, calls } = seen;
    Object.assign(seen, { lines: [], events: [] });
    return { lines, events, calls };
  },
  async release() {
    gate.open();
    gate = createGate();
    return {};
  },
  async script({ messages }) {
    const revive = (_key, value) => (value?.latin1 === undefined ? value : Buffer.from(value.latin1, "latin1"));
    script = JSON.parse(messages, revive);
    return {};
  },
};

async function control(scope, receive, send) {
  if (scope.type !== "http") return;
  const { command, ...rest } = JSON.parse(String(await readBody(receive)));
  let answer;
  try {
    answer = await commands[command](rest);
  } catch (error) {
    answer = { error: { name: error.name, code: error.code, message: error.message } };
  }
  await respond(send, 200, JSON.stringify(answer));
}

const { url } = await serve(control, { port: 0, signals: false, logger });
process.stdout.write(`${url}\n`);
