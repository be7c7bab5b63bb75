/** The benchmark routes on bare `node:http`, without any framework: the speed of the platform itself. @module */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isNewUser } from "../../new-user.js";
import { announce } from "../server-process.js";

const USERS = "/users/";

const server = createServer((request, response) => {
  const { method, url = "/" } = request;
  if (url === "/health" && method === "GET") answer(response, 200, { status: "ok" });
  else if (url === "/users" && method === "POST") createUser(request, response);
  else if (url.startsWith(USERS) && method === "GET") answer(response, 200, { id: url.slice(USERS.length) });
  else answer(response, 404, { detail: "Not Found" });
});

function createUser(request: IncomingMessage, response: ServerResponse): void {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const user = parseUser(Buffer.concat(parts).toString());
    if (isNewUser(user)) answer(response, 201, { id: 1, name: user.name, email: user.email, age: user.age });
    else answer(response, 422, { detail: "Unprocessable Content" });
  });
}

function parseUser(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function answer(response: ServerResponse, status: number, content: object): void {
  const body = JSON.stringify(content);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
}

server.listen(0, "127.0.0.1", () => {
  // `address()` is a string for Unix sockets only.
  announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once("SIGTERM", () => process.exit());
