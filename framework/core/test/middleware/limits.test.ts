import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "@jest/globals";
import type { ASGIApp, ReceiveMessage } from "../../src/protocol/asgi.js";
import { App, ConfigurationError, Depends, Request, StreamingResponse } from "../../src/index.js";
import { bodyLimit, timeLimit } from "../../src/middleware/index.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";

/** Collects garbage immediately. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}

const never = () => new Promise<never>(() => {});

describeMatrix("bodyLimit", ({ call }) => {
  const create = (maxBytes: number) => {
    let calls = 0;
    const log = new KeptLog();
    const app = new App({ logger: log, middleware: [bodyLimit(maxBytes)] });
    app.post("/stream", { params: { request: Request } }, async ({ request }) => {
      calls++;
      let length = 0;
      for await (const part of request.stream()) length += part.length;
      return length;
    });
    app.post("/unread", async () => "not read");
    return { app, log, calls: () => calls };
  };

  it("lets in bodies up to the limit, announced or in parts", async () => {
    const { app } = create(8);
    expect((await call(app, "POST", "/stream", { body: Buffer.alloc(8) })).json).toBe(8);
    expect((await call(app, "POST", "/stream", { chunks: [Buffer.alloc(4), Buffer.alloc(4)] })).json).toBe(8);
  });

  it("responds with 413 to a larger announced body, without calling the application", async () => {
    const { app, calls } = create(8);
    const sent = { headers: [["content-length", "9"]] as const, body: Buffer.alloc(9) };
    expect(await call(app, "POST", "/stream", sent)).toMatchObject({
      status: 413,
      json: { detail: "The body is larger than 8 bytes" },
    });
    expect(calls()).toBe(0);
  });

  it("responds with 413 to a larger chunked body as soon as it exceeds the limit", async () => {
    const { app, log } = create(8);
    const chunks = [Buffer.alloc(8), Buffer.alloc(1), Buffer.alloc(1000)];
    expect(await call(app, "POST", "/stream", { chunks })).toMatchObject({
      status: 413,
      json: { detail: "The body is larger than 8 bytes" },
    });
    expect(log.lines).toEqual([]);
  });

  it("limits the body for any application, even one that does not handle its errors", async () => {
    const app = new App({ logger: new KeptLog() });
    app.mount(
      "/raw",
      bodyLimit(8)(async (_scope, receive, send) => {
        for (;;) {
          const message = await receive();
          if (message.type !== "http.request" || message.more_body !== true) break;
        }
        await send({ type: "http.response.start", status: 200, headers: [] });
        await send({ type: "http.response.body" });
      }),
    );
    const fits = [Buffer.alloc(4), Buffer.alloc(4)];
    expect((await call(app, "POST", "/raw", { chunks: fits })).status).toBe(200);
    expect((await call(app, "POST", "/raw", { chunks: [...fits, Buffer.alloc(1)] })).status).toBe(413);
  });

  it("responds instead of an application that does not catch the error, unless the response has started", async () => {
    const parts = [Buffer.alloc(8), Buffer.alloc(1)];
    const reading =
      (begins: boolean): ASGIApp =>
      async (_scope, receive, send) => {
        if (begins) await send({ type: "http.response.start", status: 200, headers: [] });
        for (;;) await receive();
      };
    const statuses: number[] = [];
    const run = (begins: boolean) =>
      bodyLimit(8)(reading(begins))(
        { type: "http", method: "POST", path: "/" },
        () => Promise.resolve({ type: "http.request", body: parts.shift() ?? Buffer.alloc(9), more_body: true }),
        (message) => void (message.type === "http.response.start" && statuses.push(message.status)),
      );
    await run(false);
    await expect(run(true)).rejects.toThrow("larger than 8 bytes");
    expect(statuses).toEqual([413, 200]);
  });

  it("does not count bytes that are not read", async () => {
    const { app } = create(8);
    expect((await call(app, "POST", "/unread", { chunks: [Buffer.alloc(5), Buffer.alloc(5)] })).json).toBe("not read");
  });
});

describeMatrix("timeLimit", ({ call }) => {
  const create = (timeoutMs: number) => {
    const log = new KeptLog();
    return { app: new App({ logger: log, middleware: [timeLimit(timeoutMs)] }), log };
  };

  it("responds with 504 if the application takes longer, even in a dependency", async () => {
    const { app, log } = create(5);
    const waiting = async ({ signal }: Request) =>
      new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve());
      });
    app.get("/handler", { params: { request: Request } }, async ({ request }) => waiting(request));
    class Slow {
      static readonly params = { request: Request };
      readonly done: Promise<void>;
      constructor({ request }: { request: Request }) {
        this.done = waiting(request);
      }
    }
    app.get("/dependency", { params: { slow: Depends(Slow) } }, async ({ slow }) => slow.done);
    for (const path of ["/handler", "/dependency"]) {
      expect(await call(app, "GET", path)).toMatchObject({ status: 504, json: { detail: "Gateway Timeout" } });
    }
    expect(log.lines).toEqual([]);
  });

  it("does not affect an application that is fast enough", async () => {
    const { app } = create(60_000);
    app.get("/", async () => "done");
    expect((await call(app, "GET", "/")).json).toBe("done");
  });

  it("does not abort a response that has started", async () => {
    const { app } = create(5);
    app.get("/slow", { params: { request: Request } }, async ({ request }) => {
      await new Promise<void>((resolve) => {
        request.signal.addEventListener("abort", () => resolve());
      });
    });
    const parts = async function* () {
      yield "one ";
      yield String((await call(app, "GET", "/slow")).status);
    };
    app.get("/", async () => new StreamingResponse(parts()));
    expect((await call(app, "GET", "/")).text).toBe("one 504");
  });

  it("runs the cleanup of an application that timed out", async () => {
    const { app } = create(5);
    const notes: string[] = [];
    const open = async function* () {
      try {
        yield "open";
      } finally {
        notes.push("closed");
      }
    };
    app.get("/", { params: { request: Request, it: Depends(open) } }, async ({ request }) => {
      await new Promise<void>((resolve) => {
        request.signal.addEventListener("abort", () => resolve());
      });
    });
    expect((await call(app, "GET", "/")).status).toBe(504);
    expect(notes).toEqual(["closed"]);
  });

  it("does not buffer a body that has been read", async () => {
    const collect = collector();
    let first: WeakRef<object> | null = null;
    let parts = 0;
    const receive = async (): Promise<ReceiveMessage> => {
      const body = Buffer.alloc(1000);
      first ??= new WeakRef(body);
      return { type: "http.request", body, more_body: ++parts < 1000 };
    };
    let isKept: boolean | undefined;
    const reading: ASGIApp = async (_scope, take) => {
      for (let part = await take(); part.type === "http.request" && part.more_body;) part = await take();
      await new Promise((resolve) => setImmediate(resolve));
      collect();
      isKept = first?.deref() !== undefined;
    };
    await timeLimit(60_000)(reading)({ type: "http", method: "POST", path: "/" }, receive, () => {});
    expect(isKept).toBe(false);
  });

  it("reports a disconnect to code that waits for the body", async () => {
    const { app, log } = create(5);
    app.post("/", { params: { request: Request } }, async ({ request }) => request.text());
    const stuck: ASGIApp = (scope, receive, send) => app(scope, scope.type === "http" ? never : receive, send);
    expect((await call(stuck, "POST", "/", { json: {} })).status).toBe(504);
    expect(log.lines).toEqual([]);
  });
});

it.each<[string, () => unknown, RegExp]>([
  ["bodyLimit", () => bodyLimit(-1), /bodyLimit\(\): maxBytes should be a whole number from 0 on, not -1/],
  ["bodyLimit", () => bodyLimit({ bytes: 1 } as never), /bodyLimit\(\): maxBytes should be a whole number/],
  ["timeLimit", () => timeLimit(0), /timeLimit\(\): timeoutMs should be milliseconds, more than 0/],
  ["timeLimit", () => timeLimit(2 ** 31), /at most 2147483647/],
  ["timeLimit", () => timeLimit({ ms: 5 } as never), /timeLimit\(\): timeoutMs should be milliseconds/],
])("%s rejects an invalid limit when it is created", (_, make, message) => {
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(message);
});
