/** Applications of other frameworks inside an App. Packages that are not devDependencies are fetched on demand. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App } from "tsgi";
import { fromNodeHandler, type RunningServer, serve } from "tsgi/node";
import { KeptLog } from "../support/kept-log.js";
import { IS_SLOW } from "../support/on-demand.js";
import { sendTo } from "../support/send.js";
import { loaderOf } from "./_host.js";
import { type Inner, inners, socketIO } from "./_inner.js";

/** Serves an App with the other application at `/legacy` and at `/`. `close` ends that one before the server. */
async function serveInside(inner: Inner): Promise<Pick<RunningServer, "url" | "close">> {
  const created = await inner.create(loaderOf(inner));
  const { listener } = created;
  const app = new App({ logger: new KeptLog() });
  app.get("/moved", async () => "moved");
  app.mount("/legacy", fromNodeHandler(listener));
  app.mount("/", fromNodeHandler(listener));
  const server = await serve(app, { port: 0, signals: false, logger: new KeptLog() });
  return {
    url: server.url,
    close: async () => {
      await created.close?.();
      await server.close();
    },
  };
}

function describeInner(inner: Inner): void {
  let server: Pick<RunningServer, "url" | "close">;
  beforeAll(async () => {
    server = await serveInside(inner);
  });
  afterAll(() => server.close());

  it("has the path below the mount, and the whole one", async () => {
    const { json } = await sendTo(server.url, "GET", "/legacy/place?a=1");
    expect(json).toMatchObject({ originalUrl: expect.stringContaining("/legacy/place") });
    expect((json as { url: string }).url).toMatch(/^\/place/);
  });

  it("parses a body, and sends its status and cookies", async () => {
    const answer = await sendTo(server.url, "POST", "/legacy/json", { json: { name: "café" } });
    expect([answer.status, answer.json]).toEqual([201, { name: "café" }]);
    expect(answer.headerLines.filter(([name]) => name.toLowerCase() === "set-cookie")).toHaveLength(2);
  });

  it("responds to its own errors and to paths that it does not have", async () => {
    expect((await sendTo(server.url, "GET", "/legacy/throws")).status).toBe(500);
    expect((await sendTo(server.url, "GET", "/legacy/none")).status).toBe(404);
  });

  it("serves everything that has not been moved to the App", async () => {
    expect((await sendTo(server.url, "GET", "/moved")).json).toBe("moved");
    expect((await sendTo(server.url, "POST", "/json", { json: [1] })).json).toEqual([1]);
    expect((await sendTo(server.url, "GET", "/none")).status).toBe(404);
  });
}

describe.each(inners.filter(({ isInstalled }) => isInstalled))("$name inside an App", (inner) => {
  describeInner(inner);
});

const others = inners.filter(({ isInstalled }) => !isInstalled);
(IS_SLOW ? describe : describe.skip).each(others)("$name inside an App (skipped without TSGI_SLOW=1)", (inner) => {
  describeInner(inner);
});

interface Client {
  emitWithAck(event: string, text: string): Promise<string>;
  close(): void;
}

(IS_SLOW ? describe : describe.skip)("Socket.IO inside an App (skipped without TSGI_SLOW=1)", () => {
  it.each(["polling", "websocket"])("works by %s", async (transport) => {
    const server = await serveInside(socketIO);
    const { io } = await loaderOf(socketIO)<{ io: (url: string, options: object) => Client }>("socket.io-client");
    const client = io(server.url, { transports: [transport] });
    expect(await client.emitWithAck("echo", "hello")).toBe(`hello ${transport}`);
    client.close();
    await server.close();
  });
});
