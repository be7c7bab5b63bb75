/** A handshake whose connection is passed to the listeners of a server. @module */
import type { Socket } from "node:net";
import type { Receive, Send, WebSocketScope } from "../../../protocol/asgi.js";
import { ErrorResponse } from "../../../protocol/error-response.js";
import { encodeLatin1 } from "../../../protocol/bytes.js";
import { rawHeaders } from "../../../protocol/header-list.js";
import { takeSocket } from "../websocket/taken-sockets.js";
import { connect } from "./exchange.js";
import type { Channel, InnerServer } from "./inner-server.js";
import type { MemorySocket } from "./memory-socket.js";
import { pathsOf, targetOf } from "./target.js";

const notImplemented = new ErrorResponse(501);

/** Passes the bytes of a connection on, from the handshake to its end. */
export async function passUpgrade(
  inner: InnerServer,
  scope: WebSocketScope,
  { receive, send }: Channel,
): Promise<void> {
  const taken = inner.hasUpgrades ? takeSocket(scope) : null;
  if (taken === null) return refuse(scope, send);
  const { socket, rest } = taken;
  const [near, far] = connect(scope);
  for (const end of [socket, near, far]) end.on("error", () => {}); // each ends the other
  const ended = pass(socket, near);
  inner.connect(far, { paths: pathsOf(scope), fail: () => socket.destroy() });
  near.write(headOf(scope), "latin1");
  if (rest.length > 0) near.write(rest);
  const disconnected = untilDisconnect(receive).then(() => {
    near.destroy();
    socket.destroy();
  });
  await Promise.race([ended, disconnected]);
}

/** Connects two sockets. Resolves once the one of the client has closed. */
function pass(socket: Socket, near: MemorySocket): Promise<void> {
  socket.pipe(near);
  near.pipe(socket);
  near.once("close", () => socket.destroySoon());
  return new Promise((resolve) => {
    socket.once("close", () => {
      near.destroy();
      resolve();
    });
  });
}

function headOf(scope: WebSocketScope): string {
  const raw = rawHeaders(scope.headers);
  let head = `GET ${targetOf(scope)} HTTP/1.1\r\n`;
  for (let index = 0; index < raw.length; index += 2) head += `${raw[index]}: ${raw[index + 1]}\r\n`;
  return `${head}\r\n`;
}

/** The server stops, or the client has disconnected. */
async function untilDisconnect(receive: Receive): Promise<void> {
  while ((await receive()).type !== "websocket.disconnect");
}

async function refuse({ extensions }: WebSocketScope, send: Send): Promise<void> {
  const { head, body } = notImplemented;
  if (extensions?.["websocket.http.response"] === undefined) {
    await send({ type: "websocket.close" });
    return;
  }
  const headers = ["content-type", "content-length"].flatMap((name) => {
    const at = head.headers.raw.indexOf(name);
    return at === -1 ? [] : [[encodeLatin1(name), encodeLatin1(head.headers.raw[at + 1] ?? "")] as const];
  });
  await send({ type: "websocket.http.response.start", status: head.status, headers });
  await send({ type: "websocket.http.response.body", body });
}
