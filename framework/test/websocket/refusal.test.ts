/** A handshake that is refused by a response, on every way to reach an application. */
import { describe, expect, it } from "@jest/globals";
import type { ASGIApp, HTTPScope, SendMessage } from "../../src/asgi.js";
import { acceptHandshakes } from "../../src/web/web-socket.js";
import { describeSocketMatrix } from "../support/socket-matrix.js";

const TOLD = 'ProtocolError: "websocket.close" was sent while the WebSocket was answering.';

/** An application that closes in the middle of its response, and the error that it gets. */
function closing(told: string[]): ASGIApp {
  return async (scope, _receive, send) => {
    if (scope.type !== "websocket") return;
    await send({ type: "websocket.http.response.start", status: 418, headers: [] });
    try {
      await send({ type: "websocket.close" });
    } catch (error) {
      told.push(String(error));
    }
    await send({ type: "websocket.http.response.body", body: Buffer.from("teapot") });
  };
}

describeSocketMatrix("a response to a handshake", ({ refused }) => {
  it("cannot be followed by a close: the application is told so, and the response is sent", async () => {
    const told: string[] = [];
    expect(await refused(closing(told), "/")).toMatchObject({ statusCode: 418, body: "teapot" });
    expect(told).toEqual([TOLD]);
  });
});

describe("a response to a handshake (by fetch)", () => {
  it("cannot be followed by a close: the application is told so, and the response is sent", async () => {
    const told: string[] = [];
    const sent: SendMessage[] = [];
    const scope: HTTPScope = { type: "http", method: "GET", path: "/" };
    const app = acceptHandshakes(closing(told), () => {});
    await app(
      scope,
      () => new Promise(() => {}),
      (message) => void sent.push(message),
    );
    expect(told).toEqual([TOLD]);
    expect(sent.map(({ type }) => type)).toEqual(["http.response.start", "http.response.body"]);
  });
});
