/** Dependencies that run concurrently: which error is sent, and when. Gates order the events, never time. */
import { describe, expect, it } from "@jest/globals";
import { App, Depends, File, HTTPException, Query, Request, t, UploadFile, withParams } from "../../../src/index.js";
import { Deferred } from "../../../src/common/promises.js";
import { TestClient } from "../../../src/platforms/testing/index.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { describeMatrix } from "../../../../test/support/matrix.js";

const create = () => {
  const log = new KeptLog();
  return { app: new App({ logger: log }), log };
};

/** A dependency that waits for its gate, and then throws an HTTPException with the status, or returns its name. */
function gated(notes: string[], name: string, status?: number) {
  const [begun, gate] = [new Deferred<void>(), new Deferred<void>()];
  const fn = async () => {
    begun.resolve();
    await gate.promise;
    notes.push(name);
    if (status !== undefined) throw new HTTPException(status, name);
    return name;
  };
  Object.defineProperty(fn, "name", { value: name });
  return { fn, begun: begun.promise, open: () => gate.resolve() };
}

/** Calls an application in memory. */
function begin(app: App, path = "/") {
  const head = new Deferred<number>();
  const settled = app(
    { type: "http", method: "GET", path, query_string: new Uint8Array() },
    () => Promise.resolve({ type: "http.request" }),
    (message) => void (message.type === "http.response.start" && head.resolve(message.status)),
  );
  return { head: head.promise, settled };
}

describe("concurrent dependencies", () => {
  it("send the error of the first one while a later one still runs, which then runs to its end", async () => {
    const notes: string[] = [];
    const { app, log } = create();
    const later = gated(notes, "later", 500);
    const failing = async () => {
      throw new HTTPException(403);
    };
    app.get("/", { params: { failing: Depends(failing), later: Depends(later.fn) } }, async () => null);
    const { head, settled } = begin(app);
    let isSettled = false;
    void settled.then(() => (isSettled = true));
    // Started before the first one is known to have failed, because a promise fails in a later turn.
    await later.begun;
    expect(await head).toBe(403);
    expect([notes, isSettled]).toEqual([[], false]);
    later.open();
    await settled;
    expect(notes).toEqual(["later"]);
    expect(log.lines).toEqual(["debug The dependency later failed after another one: HTTPException: later"]);
  });

  it("wait for those before the one that failed, whose error decides if they fail too", async () => {
    const notes: string[] = [];
    const { app, log } = create();
    const [first, second, third] = [gated(notes, "first"), gated(notes, "second", 409), gated(notes, "third", 410)];
    const params = { first: Depends(first.fn), second: Depends(second.fn), third: Depends(third.fn) };
    app.get("/", { params }, async () => null);
    const { head, settled } = begin(app);
    await Promise.all([first.begun, second.begun, third.begun]);
    third.open();
    while (notes.length < 1) await Promise.resolve();
    second.open();
    while (notes.length < 2) await Promise.resolve();
    first.open();
    expect(await head).toBe(409);
    await settled;
    expect(notes).toEqual(["third", "second", "first"]);
    expect(log.lines).toEqual(["debug The dependency third failed after another one: HTTPException: third"]);
  });

  it.each([
    [403, "an HTTPException", 403],
    [422, "nothing", undefined],
  ])(
    "respond with %d after the last one has thrown %s, if the first one has invalid params",
    async (sent, _what, status) => {
      const notes: string[] = [];
      const { app } = create();
      const invalid = withParams({ n: Query(t.Integer()) }, async () => void notes.push("called"));
      const last = gated(notes, "last", status);
      app.get("/", { params: { invalid: Depends(invalid), last: Depends(last.fn) } }, async () => null);
      const { head, settled } = begin(app);
      await last.begun;
      last.open();
      expect(await head).toBe(sent);
      await settled;
      expect(notes).toEqual(["last"]);
    },
  );

  it("of another dependency do not hold the response either", async () => {
    const notes: string[] = [];
    const { app } = create();
    const later = gated(notes, "later");
    const failing = async () => {
      throw new HTTPException(403);
    };
    const outer = withParams({ failing: Depends(failing), later: Depends(later.fn) }, async () => "outer");
    const beside = withParams({ later: Depends(later.fn) }, async () => void notes.push("beside"));
    app.get("/", { params: { outer: Depends(outer), beside: Depends(beside) } }, async () => null);
    const { head, settled } = begin(app);
    expect(await head).toBe(403);
    expect(notes).toEqual([]);
    later.open();
    await settled;
    expect(notes).toEqual(["later", "beside"]);
  });

  it("keep the files of a form open until the last one has settled", async () => {
    const { app } = create();
    const [hasForm, gate, read] = [new Deferred<void>(), new Deferred<void>(), new Deferred<string>()];
    const failing = async () => {
      await hasForm.promise;
      throw new HTTPException(403);
    };
    const saving = withParams({ request: Request }, async ({ request }) => {
      const form = await request.form();
      hasForm.resolve();
      await gate.promise;
      const file = form.get("file");
      read.resolve(file instanceof UploadFile ? await file.text() : "no file");
    });
    app.post("/", { params: { file: File(), failing: Depends(failing), saving: Depends(saving) } }, async () => null);
    await using client = await TestClient.open(app);
    const body = new FormData();
    body.set("file", new Blob(["content"]), "a.txt");
    const response = await fetch(`${client.url}/`, { method: "POST", body });
    expect(response.status).toBe(403);
    gate.resolve();
    expect(await read.promise).toBe("content");
  });
});

describe("concurrent dependencies on a server", () => {
  it("let the response be sent while a later one still runs, and the connection accepts its next request", async () => {
    const notes: string[] = [];
    const { app } = create();
    const later = gated(notes, "later");
    const failing = async () => {
      throw new HTTPException(403);
    };
    app.get("/", { params: { failing: Depends(failing), later: Depends(later.fn) } }, async () => null);
    app.get("/next", async () => "next");
    await using client = await TestClient.open(app);
    expect((await fetch(`${client.url}/`)).status).toBe(403);
    expect(await (await fetch(`${client.url}/next`)).json()).toBe("next");
    expect(notes).toEqual([]);
    later.open();
  });
});

describeMatrix("concurrent dependencies", ({ call }) => {
  it("leave no unhandled rejection if they fail at the same time", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on("unhandledRejection", note);
    const failing = (status: number) => async () => {
      throw new HTTPException(status);
    };
    const atOnce = () => {
      throw new HTTPException(404);
    };
    const { app } = create();
    const params = { a: Depends(failing(401)), b: Depends(failing(402)), c: Depends(atOnce), d: Depends(failing(405)) };
    app.get("/", { params }, async () => null);
    expect((await call(app, "GET", "/")).status).toBe(401);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });
});
