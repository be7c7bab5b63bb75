/** A cleanup of scope `"function"` that fails: the request has failed, and no transport sends the result. */
import { readdirSync, readlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "@jest/globals";
import {
  App,
  BackgroundTasks,
  Depends,
  FileResponse,
  HTTPException,
  type Params,
  Response,
  StreamingResponse,
  withParams,
} from "../../../src/index.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { describeMatrix } from "../../../../test/support/matrix.js";
import { describeSocketMatrix } from "../../../../test/support/socket-matrix.js";

class CommitError extends Error {}

/** A transaction whose commit fails, and dependencies of both scopes around it. */
function failing(toError: () => Error = () => new CommitError("the commit failed")) {
  const notes: string[] = [];
  const log = new KeptLog();
  const app = new App({ logger: log });
  const held = (name: string) =>
    async function* dependency() {
      try {
        yield name;
        notes.push(`${name} ends`);
      } catch (error) {
        notes.push(`${name} sees ${(error as Error).message}`);
        throw error;
      }
    };
  const transaction = async function* transaction() {
    yield "tx";
    notes.push("commit");
    throw toError();
  };
  const params = {
    request: Depends(held("request")),
    outer: Depends(held("outer"), { scope: "function" }),
    tx: Depends(transaction, { scope: "function" }),
    inner: Depends(held("inner"), { scope: "function" }),
  } satisfies Params;
  return { app, log, notes, params };
}

const THIS_FILE = fileURLToPath(import.meta.url);

/** Tells if this process has a file open; only Linux can tell. */
function isOpen(file: string): boolean {
  if (process.platform !== "linux") return false;
  return readdirSync("/proc/self/fd").some((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === file;
    } catch {
      return false; // closed while the folder was read
    }
  });
}

const FAILED = { status: 500, json: { detail: "Internal Server Error" } };

describeMatrix("a failed cleanup of scope function", ({ call }) => {
  it("is a 500, and the generators that are still open see the error", async () => {
    const { app, notes, log, params } = failing();
    app.post("/", { params, statusCode: 201 }, async () => ({ id: 1 }));
    expect(await call(app, "POST", "/")).toMatchObject(FAILED);
    const seen = "sees the commit failed";
    expect(notes).toEqual(["inner ends", "commit", `outer ${seen}`, `request ${seen}`]);
    expect(log.lines).toEqual(["error POST / failed: Error: the commit failed"]);
  });

  it("reaches the exception handlers", async () => {
    const { app, params } = failing();
    app.exceptionHandler(CommitError, async () => new Response("conflict", { statusCode: 409 }));
    app.get("/", { params }, async () => "done");
    expect(await call(app, "GET", "/")).toMatchObject({ status: 409, text: "conflict" });
  });

  it("may be an HTTPException, whose status is sent", async () => {
    const { app, params } = failing(() => new HTTPException(503, "Try again", { headers: { "Retry-After": "1" } }));
    app.get("/", { params }, async () => "done");
    expect(await call(app, "GET", "/")).toMatchObject({
      status: 503,
      json: { detail: "Try again" },
      headers: { "retry-after": "1" },
    });
  });

  it("may be replaced by an outer generator", async () => {
    const { app, params } = failing();
    const translating = async function* translating() {
      try {
        yield 1;
      } catch {
        throw new HTTPException(409, "translated");
      }
    };
    app.get("/", { params: { translating: Depends(translating), ...params } }, async () => "done");
    expect(await call(app, "GET", "/")).toMatchObject({ status: 409, json: { detail: "translated" } });
  });

  it("drops a returned Response with its headers, cookies and background task", async () => {
    const { app, notes, params } = failing();
    const background = new BackgroundTasks();
    background.addTask(() => void notes.push("task"));
    app.get("/", { params: { ...params, draft: Response } }, async ({ draft }) => {
      draft.setCookie("session", "1");
      return new Response("saved", { statusCode: 201, headers: { "X-Saved": "1" }, background });
    });
    const answer = await call(app, "GET", "/");
    expect(answer).toMatchObject(FAILED);
    expect(answer.headers).not.toHaveProperty("set-cookie");
    expect(answer.headers).not.toHaveProperty("x-saved");
    expect(notes).not.toContain("task");
  });

  it("drops the background tasks of the handler and of the injected Response", async () => {
    const { app, notes, params } = failing();
    app.get("/", { params: { ...params, tasks: BackgroundTasks, draft: Response } }, async ({ tasks, draft }) => {
      tasks.addTask(() => void notes.push("task"));
      draft.background = new BackgroundTasks();
      draft.background.addTask(() => void notes.push("task of the draft"));
      return null;
    });
    expect(await call(app, "GET", "/")).toMatchObject(FAILED);
    expect(notes.filter((note) => note.startsWith("task"))).toEqual([]);
  });

  it("runs a task that a generator adds when it sees the error", async () => {
    const { app, notes, params } = failing();
    const alarming = withParams({ tasks: BackgroundTasks }, async function* alarming({ tasks }) {
      try {
        yield 1;
      } catch (error) {
        tasks.addTask(() => void notes.push("alarm"));
        throw error;
      }
    });
    app.get("/", { params: { ...params, alarming: Depends(alarming) } }, async () => null);
    expect(await call(app, "GET", "/")).toMatchObject(FAILED);
    expect(notes).toContain("alarm");
  });

  it("is a 500 in place of a stream, whose source is closed", async () => {
    const { app, notes, params } = failing();
    app.get("/", { params }, async function* () {
      try {
        yield 1;
        yield 2;
      } finally {
        notes.push("source closed");
      }
    });
    app.get("/returned", { params }, async () => {
      const source = (async function* () {
        try {
          yield "a";
          yield "b";
        } finally {
          notes.push("returned source closed");
        }
      })();
      return new StreamingResponse(source);
    });
    expect(await call(app, "GET", "/")).toMatchObject(FAILED);
    expect(await call(app, "GET", "/returned")).toMatchObject(FAILED);
    expect(notes).toContain("source closed");
    expect(notes).toContain("returned source closed");
  });

  it("stays the error of the request if the source of a stream fails to close, which is logged", async () => {
    const { app, log, params } = failing(() => new HTTPException(409, "the commit failed"));
    app.get("/", { params }, async () => {
      const source = (async function* () {
        try {
          yield "a";
        } finally {
          throw new Error("stuck"); // oxlint-disable-line no-unsafe-finally -- the case under test
        }
      })();
      return new StreamingResponse(source);
    });
    expect(await call(app, "GET", "/")).toMatchObject({ status: 409, json: { detail: "the commit failed" } });
    expect(log.lines).toEqual(["error The response could not be released: Error: stuck"]);
  });

  it("is a 500 in place of a file, which is closed", async () => {
    const { app, params } = failing();
    app.get("/", { params }, async () => new FileResponse(THIS_FILE));
    expect(await call(app, "GET", "/")).toMatchObject(FAILED);
    expect(isOpen(THIS_FILE)).toBe(false);
  });

  it("is a 500 to HEAD", async () => {
    const { app, params } = failing();
    app.get("/", { params }, async () => "done");
    expect((await call(app, "HEAD", "/")).status).toBe(500);
  });

  it("stays a log line if the handler has failed before", async () => {
    const { app, notes, params } = failing();
    app.get("/", { params }, async () => {
      throw new HTTPException(404);
    });
    expect((await call(app, "GET", "/")).status).toBe(404);
    expect(notes).not.toContain("commit");
  });
});

describeSocketMatrix("a failed cleanup of scope function", ({ connect }) => {
  it("closes a WebSocket with 1011 after its handler has returned, without its tasks", async () => {
    const { app, notes, log, params } = failing();
    app.websocket("/ws", { params: { ...params, tasks: BackgroundTasks } }, async ({ ws, tasks }) => {
      tasks.addTask(() => void notes.push("task"));
      await ws.accept();
    });
    const ws = await connect(app, "/ws");
    expect((await ws.closed).code).toBe(1011);
    await ws.settled();
    const seen = "sees the commit failed";
    expect(notes).toEqual(["inner ends", "commit", `outer ${seen}`, `request ${seen}`]);
    expect(log.lines).toEqual(["error WEBSOCKET /ws failed: Error: the commit failed"]);
  });
});
