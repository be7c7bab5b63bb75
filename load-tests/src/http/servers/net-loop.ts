/**
 * The floor: the benchmark routes in a loop on `node:net` that believes every byte. No server: it refuses nothing that
 * HTTP forbids, knows no chunked body, no time-out, no limit and no back-pressure. What it leaves out is what a server
 * costs on this platform.
 *
 * @module
 */
import { type AddressInfo, createServer } from "node:net";
import { isNewUser } from "../../new-user.js";
import { announce } from "../server-process.js";

const USERS = "/users/";
const LENGTH = "content-length";

/** The same for all responses of a second, as other servers have it. */
let date = "";
const tick = (): void => void (date = new Date().toUTCString());
tick();
setInterval(tick, 1000).unref();

const server = createServer({ noDelay: true }, (socket) => {
  let rest = "";
  socket.on("data", (chunk) => {
    const [answers, unread] = serveAll(rest + chunk.toString("latin1"));
    rest = unread;
    if (answers !== "") socket.write(answers, "latin1");
  });
  socket.on("error", () => {});
});

/** The answers to all requests that are whole, and what stands behind them. */
function serveAll(input: string): [answers: string, rest: string] {
  let answers = "";
  let at = 0;
  for (let end = input.indexOf("\r\n\r\n"); end !== -1; end = input.indexOf("\r\n\r\n", at)) {
    const lines = input.slice(at, end).split("\r\n");
    const bodyStart = end + 4;
    const bodyEnd = bodyStart + Number(readHeaders(lines).get(LENGTH) ?? 0);
    if (bodyEnd > input.length) break;
    const [method = "", target = ""] = (lines[0] ?? "").split(" ", 2);
    answers += answer(method, target, input.slice(bodyStart, bodyEnd));
    at = bodyEnd;
  }
  return [answers, input.slice(at)];
}

/** All of them, as an application would want them. */
function readHeaders(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (let index = 1; index < lines.length; index++) {
    const line = lines[index] as string;
    const colon = line.indexOf(":");
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return headers;
}

function answer(method: string, target: string, body: string): string {
  if (method === "POST" && target === "/users") {
    const user = parseJSON(body);
    return isNewUser(user)
      ? respond("201 Created", { id: 1, name: user.name, email: user.email, age: user.age })
      : respond("422 Unprocessable Content", { detail: "Unprocessable Content" });
  }
  if (target === "/health") return respond("200 OK", { status: "ok" });
  if (target.startsWith(USERS)) return respond("200 OK", { id: target.slice(USERS.length) });
  return respond("404 Not Found", { detail: "Not Found" });
}

function parseJSON(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function respond(status: string, content: object): string {
  const body = JSON.stringify(content);
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nDate: ${date}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\n${body}`;
}

server.listen(0, "127.0.0.1", () => {
  // `address()` is a string for Unix sockets only.
  announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once("SIGTERM", () => process.exit());
