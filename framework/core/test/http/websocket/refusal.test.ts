/** A handshake that is refused by a response, on every way to reach an application. */
import { describe, expect, it } from "@jest/globals";
import type { ASGIApp, HTTPScope } from "../../../src/protocol/asgi.js";
import { ServerContext } from "../../../src/protocol/server-context.js";
import { WebSocketSession } from "../../../src/protocol/websocket-session.js";
import { FetchStream } from "../../../src/platforms/web/fetch-stream.js";
import { PairHandshake, toPairScope } from "../../../src/platforms/web/pair-handshake.js";
import { createFetchScope } from "../../../src/platforms/web/scope.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { describeSocketMatrix } from "../../../../test/support/socket-matrix.js";

const TOLD = 'ProtocolError: "websocket.close" was sent while the WebSocket was responding.';

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
  it("cannot be followed by a close: the application gets an error, and the response is sent", async () => {
    const told: string[] = [];
    expect(await refused(closing(told), "/")).toMatchObject({ statusCode: 418, body: "teapot" });
    expect(told).toEqual([TOLD]);
  });
});

describe("a response to a handshake (by fetch)", () => {
  it("cannot be followed by a close: the application gets an error, and the response is sent", async () => {
    const told: string[] = [];
    const request = new Request("http://localhost/");
    const context = new ServerContext(closing(told), new KeptLog(), { state: {} });
    const stream = new FetchStream(request, false);
    const httpScope = createFetchScope(request, {}, context, stream) as HTTPScope;
    const scope = toPairScope(httpScope);
    const session = new WebSocketSession(context, stream, scope, new PairHandshake(context, stream, httpScope));
    await session.run(scope);
    expect(told).toEqual([TOLD]);
    const response = await stream.response;
    expect([response.status, await response.text()]).toEqual([418, "teapot"]);
  });
});
