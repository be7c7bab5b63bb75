import { expect, it } from "@jest/globals";
import {
  App,
  type ASGIApp,
  FileResponse,
  HTTPException,
  JSONResponse,
  type Middleware,
  RequestValidationError,
  Router,
  StreamingResponse,
  t,
} from "../../src/index.js";
import { createFolder } from "../../../test/support/folder.js";
import { describeMatrix } from "../../../test/support/matrix.js";
import type { ExceptionKey } from "../../src/http/exception-handlers.js";
import type { Logger } from "../../src/common/logger.js";

/** A logger that keeps the level, the message and the error of each line. */
class ErrorLog implements Logger {
  readonly entries: { level: string; message: string; err: unknown }[] = [];
  readonly debug = this.#level("debug");
  readonly info = this.#level("info");
  readonly warn = this.#level("warn");
  readonly error = this.#level("error");

  #level(level: string): (fields: { err?: unknown }, message: string) => void {
    return ({ err }, message) => void this.entries.push({ level, message, err });
  }
}

const setUp = (options: ConstructorParameters<typeof App>[0] = {}) => {
  const log = new ErrorLog();
  return { app: new App({ logger: log, ...options }), log };
};

const folder = createFolder({});
const bug = new RangeError("a bug");
const failing = async () => Promise.reject(bug);
const logged = { level: "error", message: "GET / failed: RangeError: a bug", err: bug };

const sorry = () => new JSONResponse({ error: "sorry" }, { statusCode: 500 });

describeMatrix("an unexpected error", ({ call }) => {
  it.each<[string, ExceptionKey]>([
    ["Error", Error],
    ["its class", RangeError],
    ["the status 500", 500],
  ])("is logged with its stack if an exception handler for %s responds with 500", async (_key, key) => {
    const { app, log } = setUp();
    app.exceptionHandler(key as typeof Error, sorry);
    app.get("/", failing);
    expect(await call(app, "GET", "/")).toMatchObject({ status: 500, json: { error: "sorry" } });
    expect(log.entries).toEqual([logged]);
  });

  const failingMiddleware: Middleware = () => () => Promise.reject(bug);
  const failingApp: ASGIApp = () => Promise.reject(bug);

  it.each<[string, (app: App) => void]>([
    ["of a route", (app) => app.get("/", { exceptionHandlers: [[Error, sorry]] }, failing)],
    [
      "of a router",
      (app) => {
        const router = new Router({ exceptionHandlers: [[Error, sorry]] });
        router.get("/", failing);
        app.includeRouter(router);
      },
    ],
    [
      "of a mounted App",
      (app) => {
        const inner = new App({ logger: app.settings.logger, exceptionHandlers: [[Error, sorry]] });
        inner.get("/", failing);
        app.mount("", inner);
      },
    ],
    [
      "of the App around a mounted application",
      (app) => {
        app.exceptionHandler(Error, sorry);
        app.mount("", failingApp);
      },
    ],
    [
      "of the App, for its middleware",
      (app) => {
        app.exceptionHandler(Error, sorry);
        app.addMiddleware(failingMiddleware);
      },
    ],
    [
      "of the App, for the middleware of a route",
      (app) => {
        app.exceptionHandler(Error, sorry);
        app.get("/", { middleware: [failingMiddleware] }, async () => null);
      },
    ],
    [
      "of the App, for a stream that fails before its first item",
      (app) => {
        app.exceptionHandler(Error, sorry);
        app.get(
          "/",
          async () =>
            new StreamingResponse(
              (async function* () {
                yield await failing();
              })(),
            ),
        );
      },
    ],
  ])("is logged once if the exception handler %s responds", async (_place, define) => {
    const { app, log } = setUp();
    define(app);
    expect(await call(app, "GET", "/")).toMatchObject({ status: 500, json: { error: "sorry" } });
    expect(log.entries).toEqual([logged]);
  });

  it("is logged with the option problemDetails too", async () => {
    const { app, log } = setUp({ problemDetails: true });
    app.exceptionHandler(500, sorry);
    app.get("/", failing);
    await call(app, "GET", "/");
    expect(log.entries).toEqual([logged]);
  });

  it("is not logged if its exception handler responds with a status below 500", async () => {
    const { app, log } = setUp();
    app.exceptionHandler(RangeError, () => new JSONResponse({}, { statusCode: 409 }));
    app.exceptionHandler(TypeError, () => {
      throw new HTTPException(404);
    });
    app.get("/", failing);
    app.get("/type", async () => Promise.reject(new TypeError("no such item")));
    expect((await call(app, "GET", "/")).status).toBe(409);
    expect((await call(app, "GET", "/type")).status).toBe(404);
    expect(log.entries).toEqual([]);
  });

  it("is logged if its exception handler throws an HTTPException from 500 on", async () => {
    const { app, log } = setUp();
    app.exceptionHandler(RangeError, () => {
      throw new HTTPException(503);
    });
    app.get("/", failing);
    expect((await call(app, "GET", "/")).status).toBe(503);
    expect(log.entries).toEqual([logged]);
  });

  it("is logged once if its exception handler throws it again, or as the cause of an HTTPException", async () => {
    const { app, log } = setUp();
    app.exceptionHandler(500, (error) => {
      throw error;
    });
    app.exceptionHandler(RangeError, (error, request) => {
      throw request.queryParams.has("wrapped") ? new HTTPException(502, "Bad", { cause: error }) : error;
    });
    app.get("/", failing);
    expect((await call(app, "GET", "/")).status).toBe(500);
    expect((await call(app, "GET", "/?wrapped")).status).toBe(502);
    expect(log.entries).toEqual([logged, logged]);
  });

  it("is logged with the error that its exception handler throws in its place", async () => {
    const { app, log } = setUp();
    const second = new TypeError("handler fails");
    app.exceptionHandler(RangeError, () => {
      throw second;
    });
    app.get("/", failing);
    expect((await call(app, "GET", "/")).status).toBe(500);
    expect(log.entries).toEqual([
      logged,
      { level: "error", message: "GET / failed: TypeError: handler fails", err: second },
    ]);
  });

  it("is logged with the error of its response, such as a missing file", async () => {
    const { app, log } = setUp();
    app.exceptionHandler(RangeError, () => new JSONResponse({ n: 1n }));
    app.exceptionHandler(TypeError, () => new FileResponse("gone.html", { root: folder }));
    app.get("/", failing);
    app.get("/type", async () => Promise.reject(new TypeError()));
    expect((await call(app, "GET", "/")).status).toBe(500);
    expect(log.entries).toEqual([
      logged,
      { level: "error", message: expect.stringContaining("GET / failed: TypeError: "), err: expect.any(TypeError) },
    ]);
    expect((await call(app, "GET", "/type")).status).toBe(404);
    expect(log.entries).toHaveLength(2);
  });

  it("is logged if it is an invalid result or an invalid request for which a handler responds with 500", async () => {
    const { app, log } = setUp();
    app.exceptionHandler(500, sorry);
    app.exceptionHandler(RequestValidationError, sorry);
    app.get("/", { returns: t.Object({ n: t.Integer() }) }, async () => ({ n: "one" }) as never);
    app.get("/{n}", { params: { n: t.Integer() } }, async () => null);
    await call(app, "GET", "/");
    await call(app, "GET", "/one");
    expect(log.entries.map(({ err }) => String(Object(err).name))).toEqual([
      "ResponseValidationError",
      "RequestValidationError",
    ]);
  });
});

describeMatrix("an HTTPException from 500 on", ({ call }) => {
  it("is logged only if it has a cause, even if an exception handler responds", async () => {
    const { app, log } = setUp();
    app.exceptionHandler(HTTPException, ({ statusCode }) => new JSONResponse({ own: statusCode }, { statusCode }));
    const unavailable = new HTTPException(503, "No database", { cause: bug });
    app.get("/", async () => Promise.reject(unavailable));
    app.get("/busy", async () => Promise.reject(new HTTPException(503)));
    expect(await call(app, "GET", "/")).toMatchObject({ status: 503, json: { own: 503 } });
    expect(await call(app, "GET", "/busy")).toMatchObject({ status: 503 });
    expect(log.entries).toEqual([
      { level: "error", message: "GET / failed: HTTPException: No database", err: unavailable },
    ]);
  });
});
