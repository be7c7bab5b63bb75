import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { App } from "../../src/app/app.js";
import { compress } from "../../src/middleware/index.js";
import { FileResponse } from "../../src/http/response/file.js";
import { StaticFiles } from "../../src/http/static-files.js";
import { UploadFile } from "../../src/http/upload-file.js";
import { call } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";

const MISSING = expect.objectContaining({ name: "ConfigurationError", code: "TSGI_MISSING_PLATFORM_MODULE" });

/** Runs the lifespan up to the response to its startup. */
async function startUp(app: App) {
  const messages: { type: string; message?: string }[] = [];
  const forever = new Promise<never>(() => {});
  let received = 0;
  await Promise.race([
    app(
      { type: "lifespan" },
      () => (received++ === 0 ? Promise.resolve({ type: "lifespan.startup" as const }) : forever),
      (message) => void messages.push(message),
    ),
    new Promise<void>((resolve) => {
      const poll = () => (messages.length > 0 ? resolve() : setImmediate(poll));
      poll();
    }),
  ]);
  return messages[0];
}

describe("a platform without modules of Node", () => {
  beforeEach(() => {
    jest.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it("rejects StaticFiles and compress() when they are created", () => {
    expect(() => new StaticFiles("public")).toThrow(MISSING);
    expect(() => compress()).toThrow(MISSING);
  });

  it("rejects a pool of processes or threads when the application starts", async () => {
    for (const kind of ["process", "thread"] as const) {
      const app = new App({ logger: new KeptLog(), pool: { kind } });
      app.get("/", () => 1);
      expect(await startUp(app)).toEqual({
        type: "lifespan.startup.failed",
        message: expect.stringContaining(`pool: { kind: "${kind}" } needs node:`),
      });
    }
  });

  it("runs non-async handlers inline, with one warning", async () => {
    const logger = new KeptLog();
    const app = new App({ logger });
    app.get("/a", () => "a");
    app.get("/b", () => "b");
    expect(await startUp(app)).toEqual({ type: "lifespan.startup.complete" });
    expect((await call(app, "GET", "/a")).json).toBe("a");
    expect((await call(app, "GET", "/b")).json).toBe("b");
    expect(logger.lines).toEqual([
      "warn 2 routes run inline on this platform, which has no worker processes, as their handlers are not async: GET /a, GET /b",
    ]);
  });

  it("responds with 500 for a file, and logs the module", async () => {
    const logger = new KeptLog();
    const app = new App({ logger });
    app.get("/", async () => new FileResponse("page.html"));
    expect((await call(app, "GET", "/")).status).toBe(500);
    expect(logger.lines.join()).toContain("FileResponse needs node:");
  });

  it("keeps uploads in memory, and cannot save them", async () => {
    const file = new UploadFile(Buffer.from("x"), { filename: "a.txt" });
    await expect(file.saveTo("a.txt")).rejects.toEqual(MISSING);
  });

  it("serves the document, and explains on its pages why they show no more", async () => {
    const app = new App();
    expect((await call(app, "GET", "/openapi.json")).status).toBe(200);
    const page = await call(app, "GET", "/docs");
    expect(page.status).toBe(200);
    expect(page.text).toContain("The files of this page are not available here");
    expect(page.text).not.toMatch(/<script|href=".\/docs/);
  });
});
