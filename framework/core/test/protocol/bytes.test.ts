import { describe, expect, it } from "@jest/globals";
import type { ReceiveMessage, SendMessage } from "../../src/protocol/asgi.js";
import { App, File, FileResponse, HeaderList, Request, Response, UploadFile } from "../../src/index.js";
import { multipart } from "../../../test/support/multipart.js";
import { outgoingOf } from "../../../test/support/call.js";

const plain = (text: string) => new TextEncoder().encode(text);

/** Calls an App with bytes that are not Buffers, and returns its messages. */
async function sentBy(app: App, method: string, path: string, headers: [string, string][] = [], parts = [""]) {
  const sent: SendMessage[] = [];
  const messages: ReceiveMessage[] = parts.map((part, index) => ({
    type: "http.request",
    body: plain(part),
    more_body: index < parts.length - 1,
  }));
  await app(
    { type: "http", method, path, headers: headers.map(([name, value]) => [plain(name), plain(value)] as const) },
    async () => messages.shift() ?? { type: "http.disconnect" },
    (message) => void sent.push(message),
  );
  return sent;
}

describe("bytes are Buffers if that global exists", () => {
  it("in the headers and the body of every response", async () => {
    const app = new App();
    app.get("/json", async () => ({ a: 1 }));
    app.get("/bytes", async () => new Response(plain("bytes"), { headers: { "x-id": "é" } }));
    app.get("/file", async () => new FileResponse(import.meta.filename));
    app.get("/empty", { statusCode: 204 }, async () => {});
    for (const path of ["/json", "/bytes", "/file", "/empty", "/lost"]) {
      for (const method of ["GET", "HEAD"]) {
        const bytes = (await sentBy(app, method, path)).flatMap((message) => {
          if (message.type === "http.response.start") return [...(message.headers ?? [])].flat();
          return message.type === "http.response.body" ? [message.body] : [];
        });
        expect([path, method, bytes.length > 0, bytes.every((one) => Buffer.isBuffer(one))]).toEqual([
          path,
          method,
          true,
          true,
        ]);
      }
    }
  });

  it("in the values of a request and a file, regardless of the types of the server", async () => {
    const app = new App();
    const seen: unknown[] = [];
    app.post("/body", { params: { request: Request } }, async ({ request }) => void seen.push(await request.body()));
    app.post("/stream", { params: { request: Request } }, async ({ request }) => {
      for await (const part of request.stream()) seen.push(part);
    });
    app.post("/file", { params: { file: File() } }, async ({ file }) => {
      seen.push(await file.read(2), await file.read());
      for await (const part of file.stream()) seen.push(part);
    });
    await sentBy(app, "POST", "/body", [], ["one"]);
    await sentBy(app, "POST", "/body", [], ["one", "two"]);
    await sentBy(app, "POST", "/stream", [], ["one", "two"]);
    const { headers, chunks } = outgoingOf(multipart(["file", { filename: "f", content: "hello" }]));
    const form = Buffer.concat(chunks).toString();
    await sentBy(
      app,
      "POST",
      "/file",
      headers.map(([name, value]) => [name, value]),
      [form],
    );
    seen.push(await new UploadFile(plain("own")).read());
    expect(seen.map((bytes) => (Buffer.isBuffer(bytes) ? bytes.toString() : bytes))).toEqual([
      "one",
      "onetwo",
      "one",
      "two",
      "he",
      "llo",
      "hello",
      "own",
    ]);
  });

  it("in a message of a WebSocket and in a HeaderList", async () => {
    const app = new App();
    let received: unknown;
    app.websocket("/", async ({ ws }) => {
      await ws.accept();
      received = await ws.receiveBytes();
    });
    const messages: ReceiveMessage[] = [
      { type: "websocket.connect" },
      { type: "websocket.receive", bytes: plain("message") },
    ];
    await app(
      { type: "websocket", path: "/" },
      async () => messages.shift() ?? { type: "websocket.disconnect" },
      () => {},
    );
    expect(
      [...new HeaderList(["X-Id", "5"])]
        .flat()
        .concat(received as Uint8Array)
        .map(String),
    ).toEqual(["x-id", "5", "message"]);
  });
});
