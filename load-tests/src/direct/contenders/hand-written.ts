/**
 * The yardstick: careful code without a framework. It does exactly the work of the benchmark application: it routes,
 * reads, validates, filters and responds.
 *
 * @module
 */
import type { ASGIApp, HTTPScope, Receive, Send } from "tsgi";
import { isNewUser, type NewUser } from "../../new-user.js";

const CONTENT_TYPE = Buffer.from("content-type");
const JSON_TYPE = Buffer.from("application/json");
const CONTENT_LENGTH = Buffer.from("content-length");
/** The lengths of small bodies, encoded once. */
const LENGTHS: readonly Buffer[] = Array.from({ length: 1_024 }, (_, length) => Buffer.from(String(length)));
const USERS = "/users/";

/** This module is an ASGI application. */
export const kind = "asgi";

/** The application. */
export const handle: ASGIApp = async (scope, receive, send) => {
  if (scope.type !== "http") throw new TypeError(`Expected an http scope, not ${scope.type}.`);
  const { method, path } = scope;
  if (path === "/health") {
    await (method === "GET" ? answer(send, 200, { status: "ok" }) : notAllowed(send));
  } else if (path === "/users") {
    await (method === "POST" ? createUser(scope, receive, send) : notAllowed(send));
  } else if (path.startsWith(USERS) && path.length > USERS.length && !path.includes("/", USERS.length)) {
    await (method === "GET" ? answer(send, 200, { id: path.slice(USERS.length) }) : notAllowed(send));
  } else {
    await answer(send, 404, { detail: "Not Found" });
  }
};

async function createUser(scope: HTTPScope, receive: Receive, send: Send): Promise<void> {
  const user: unknown = isJSON(scope) ? parse(await readBody(receive)) : null;
  await (isNewUser(user) ? answer(send, 201, cutUser(user)) : unprocessable(send));
}

function cutUser({ name, email, age }: NewUser): object {
  return { id: 1, name, email, age };
}

function unprocessable(send: Send): Promise<void> {
  return answer(send, 422, { detail: "Unprocessable Content" });
}

function isJSON(scope: HTTPScope): boolean {
  for (const [name, value] of scope.headers ?? []) {
    if (CONTENT_TYPE.equals(name)) return JSON_TYPE.equals(value);
  }
  return false;
}

async function readBody(receive: Receive): Promise<string> {
  const first = await receive();
  if (first.type === "http.request" && first.more_body !== true) return decode(first.body ?? new Uint8Array());
  const parts: Uint8Array[] = [];
  for (let message = first; ; message = await receive()) {
    if (message.type !== "http.request") throw new Error("The client has disconnected.");
    parts.push(message.body ?? new Uint8Array());
    if (message.more_body !== true) return Buffer.concat(parts).toString();
  }
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function notAllowed(send: Send): Promise<void> {
  return answer(send, 405, { detail: "Method Not Allowed" });
}

async function answer(send: Send, status: number, content: object): Promise<void> {
  const body = Buffer.from(JSON.stringify(content));
  const length = LENGTHS[body.length] ?? Buffer.from(String(body.length));
  await send({
    type: "http.response.start",
    status,
    headers: [
      [CONTENT_TYPE, JSON_TYPE],
      [CONTENT_LENGTH, length],
    ],
  });
  await send({ type: "http.response.body", body });
}
