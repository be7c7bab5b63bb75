/** The dependencies of WebSocket routes, their cleanup, and background tasks. */
import { expect, it } from "@jest/globals";
import type { ASGIApp } from "../../../src/protocol/asgi.js";
import {
  App,
  BackgroundTasks,
  Depends,
  HTTPException,
  type Params,
  type WebSocket,
  WebSocketException,
  withParams,
} from "../../../src/index.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { describeSocketMatrix } from "../../../../test/support/socket-matrix.js";

/** Two dependencies, one of each scope, that note what becomes of them, a background task, and a handler. */
function noting(use: (ws: WebSocket) => Promise<unknown>) {
  const notes: string[] = [];
  const log = new KeptLog();
  const app = new App({ logger: log });
  const held = (name: string) =>
    async function* dependency() {
      try {
        yield name;
        notes.push(`${name} ends`);
      } catch (error) {
        notes.push(`${name} sees ${String((error as { code?: number }).code ?? error)}`);
        throw error;
      } finally {
        notes.push(`${name} cleaned`);
      }
    };
  const params = {
    first: Depends(held("request")),
    second: Depends(held("function"), { scope: "function" }),
    tasks: BackgroundTasks,
  } satisfies Params;
  app.websocket("/ws", { params }, async ({ ws, tasks }) => {
    tasks.addTask(() => notes.push("task"));
    await use(ws);
  });
  return { app, notes, log };
}

describeSocketMatrix("dependencies of a WebSocket", ({ connect, refused }) => {
  it("are cleaned up around the close, of scope `function` before it, of scope `request` after the tasks", async () => {
    const { app, notes } = noting((ws) => ws.accept());
    const traced: ASGIApp = (scope, receive, send) =>
      app(scope, receive, (message) => {
        if (message.type === "websocket.close") notes.push("close");
        return send(message);
      });
    const ws = await connect(traced, "/ws");
    await ws.closed;
    await ws.settled();
    expect(notes).toEqual(["function ends", "function cleaned", "close", "task", "request ends", "request cleaned"]);
  });

  it("run the tasks that their cleanup adds", async () => {
    const app = new App();
    const notes: string[] = [];
    const audit = withParams({ tasks: BackgroundTasks }, async function* ({ tasks }) {
      yield null;
      tasks.addTask(() => notes.push("task"));
    });
    app.websocket("/ws", { params: { audit: Depends(audit) } }, async ({ ws }) => ws.accept());
    const ws = await connect(app, "/ws");
    await ws.closed;
    await ws.settled();
    expect(notes).toEqual(["task"]);
  });

  it.each<[string, (ws: WebSocket) => Promise<unknown>, string]>([
    ["an error", () => Promise.reject(new Error("boom")), "Error: boom"],
    ["a WebSocketException", () => Promise.reject(new WebSocketException(4001)), "4001"],
    ["the client's close", (ws) => ws.receive(), "1000"],
  ])("see %s in reverse order, before the close", async (_what, use, seen) => {
    const { app, notes } = noting(async (ws) => {
      await ws.accept();
      await use(ws);
    });
    const ws = await connect(app, "/ws");
    await ws.close();
    expect(notes).toEqual([
      `function sees ${seen}`,
      "function cleaned",
      `request sees ${seen}`,
      "request cleaned",
      "task",
    ]);
  });

  it("are cleaned up when the handshake is rejected", async () => {
    const { app, notes } = noting(() => Promise.reject(new HTTPException(409)));
    expect((await refused(app, "/ws")).statusCode).toBe(409);
    expect(notes.filter((note) => note.endsWith("cleaned"))).toEqual(["function cleaned", "request cleaned"]);
  });

  it("are cleaned up if the client disconnects without a close frame", async () => {
    const { app, notes, log } = noting(async (ws) => {
      await ws.accept();
      await ws[Symbol.asyncIterator]().next();
    });
    const ws = await connect(app, "/ws");
    await ws.terminate();
    expect(notes).toContain("function cleaned");
    expect(notes).toContain("request cleaned");
    expect(notes).toContain("task");
    expect(log.lines).toEqual([]);
  });

  it("may fail in their cleanup: it is logged, the others still run", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    const notes: string[] = [];
    const held = async function* held() {
      yield 1;
      notes.push("outer");
    };
    const failing = async function* failing() {
      yield 2;
      throw new Error("stuck");
    };
    app.websocket("/ws", { params: { held: Depends(held), failing: Depends(failing) } }, async ({ ws }) => ws.accept());
    const ws = await connect(app, "/ws");
    expect((await ws.closed).code).toBe(1000);
    await ws.settled();
    expect(notes).toEqual(["outer"]);
    expect(log.lines).toEqual(["error The cleanup of the dependency failing failed"]);
  });

  it("are made once a connection, and may be overridden", async () => {
    const app = new App({ logger: new KeptLog() });
    let made = 0;
    const original = async () => `original ${++made}`;
    app.websocket("/ws", { params: { a: Depends(original), b: Depends(original) } }, async ({ ws, a, b }) => {
      await ws.accept();
      await ws.sendJson([a, b]);
    });
    const ask = async () => (await connect(app, "/ws")).receiveJson();
    expect(await ask()).toEqual(["original 1", "original 1"]);
    expect(await ask()).toEqual(["original 2", "original 2"]);
    app.dependencyOverrides.set(original, async () => "other");
    expect(await ask()).toEqual(["other", "other"]);
  });
});
