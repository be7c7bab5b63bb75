/** Two copies of the package in one program, as npm installs them if a package needs another version than the application. */
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import type * as Main from "../../src/index.js";
import type * as SecurityEntry from "../../src/parameters/security/index.js";
import type * as TestingEntry from "../../src/platforms/testing/index.js";
import type * as MiddlewareEntry from "../../src/middleware/index.js";

const OWN = path.resolve(import.meta.dirname, "../..");

type Core = typeof Main & typeof SecurityEntry & typeof TestingEntry & typeof MiddlewareEntry;

async function load(folder: string): Promise<Core> {
  const entries = ["index", "parameters/security/index", "platforms/testing/index", "middleware/index"];
  const modules = await Promise.all(
    entries.map(async (entry): Promise<object> => import(pathToFileURL(`${folder}/dist/${entry}.js`).href)),
  );
  return Object.assign({}, ...modules) as Core;
}

let home: string;
let other: string;
let own: Core;
let foreign: Core;

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "tsgi two copies-"));
  other = path.join(home, "node_modules/tsgi");
  const filter = (file: string) => !/\.(?:map|d\.ts)$|\bdist.web$/.test(file);
  await cp(path.join(OWN, "dist"), path.join(other, "dist"), { recursive: true, filter });
  [own, foreign] = await Promise.all([load(OWN), load(other)]);
});
afterAll(() => rm(home, { recursive: true }));

/** The error that names the folders of both copies, and what to do. */
const twoCopies = () => ({
  name: "ConfigurationError",
  code: "TSGI_TWO_COPIES",
  message: expect.stringContaining(`loaded twice, from ${OWN} and from ${other}, and`),
});

/** An application that keeps the errors which it logs. */
function setUp() {
  const errors: unknown[] = [];
  const log = ({ err }: { err?: unknown }) => void errors.push(err);
  const logger = { debug() {}, info() {}, warn() {}, error: log };
  return { errors, app: new own.App({ logger, docsUrl: null, redocUrl: null }) };
}

type Setup = ReturnType<typeof setUp>;

const fetchRoot = ({ app }: Setup) => app.fetch(new Request("http://localhost/"));
const ok = async () => "ok";

describe("with two copies of tsgi, one error names both folders", () => {
  it.each<[string, () => Error]>([
    ["HTTPException", () => new foreign.HTTPException(404)],
    ["RequestValidationError", () => new foreign.RequestValidationError([])],
  ])("if a handler throws the other's %s, which is the cause", async (_, make) => {
    const setup = setUp();
    const error = make();
    setup.app.get("/", async () => Promise.reject(error));
    expect((await fetchRoot(setup)).status).toBe(500);
    expect(setup.errors).toEqual([expect.objectContaining({ ...twoCopies(), cause: error })]);
  });

  it("if a WebSocket handler throws the other's WebSocketException", async () => {
    const { app, errors } = setUp();
    app.websocket("/", async ({ ws }) => {
      await ws.accept();
      throw new foreign.WebSocketException(4000);
    });
    const client = await own.TestClient.open(app);
    const socket = await client.websocket("/");
    expect(await socket.closed).toMatchObject({ code: 1011 });
    await client.close();
    expect(errors).toEqual([expect.objectContaining(twoCopies())]);
  });

  it.each<[string, (setup: Setup) => void]>([
    ["a handler", ({ app }) => app.get("/", async () => new foreign.JSONResponse({ id: 1 }))],
    [
      "a handler with `returns`",
      ({ app }) => app.get("/", { returns: own.t.Object({}) }, async () => new foreign.JSONResponse({}) as object),
    ],
    [
      "a handler with `stream`",
      ({ app }) => app.get("/", { stream: "sse" }, async () => new foreign.Response() as never),
    ],
    [
      "an exception handler",
      ({ app }) => {
        app.exceptionHandler(TypeError, () => new foreign.JSONResponse({}) as never);
        app.get("/", async () => Promise.reject(new TypeError("of the application")));
      },
    ],
    [
      "middleware",
      ({ app }) => {
        app.addMiddleware(own.httpMiddleware(async () => new foreign.Response("")));
        app.get("/", ok);
      },
    ],
  ])("if %s returns the other's Response", async (_, register) => {
    const setup = setUp();
    register(setup);
    const response = await fetchRoot(setup);
    expect([response.status, await response.json()]).toEqual([500, { detail: "Internal Server Error" }]);
    expect(setup.errors.at(-1)).toMatchObject(twoCopies());
  });

  it("if a handler in the pool returns the other's Response", async () => {
    const { app, errors } = setUp();
    app.get("/", () => new foreign.JSONResponse({}));
    const client = await own.TestClient.open(app);
    expect((await client.get("/")).status).toBe(500);
    await client.close();
    expect(errors).toMatchObject([{ message: twoCopies().message }]);
  });

  it.each<[string, () => unknown]>([
    ["Query()", () => foreign.Query()],
    ["Depends()", () => foreign.Depends(ok)],
    ["Request", () => foreign.Request],
    ["Response", () => foreign.Response],
    ["WebSocket", () => foreign.WebSocket],
    ["UploadFile", () => foreign.UploadFile],
    ["BackgroundTasks", () => foreign.BackgroundTasks],
    ["SecurityScopes", () => foreign.SecurityScopes],
    ["security scheme in Depends()", () => own.Depends(new foreign.HTTPBearer())],
  ])("if a parameter is declared with the other's %s", (_, annotation) => {
    const params = { a: annotation() as never };
    expect(() => setUp().app.get("/", { params }, ok)).toThrow(expect.objectContaining(twoCopies()));
  });

  it.each<[string, (app: Setup["app"]) => void]>([
    ["Router", (app) => app.includeRouter(new foreign.Router())],
    ["App, in the place of a Router", (app) => app.includeRouter(new foreign.App() as never)],
    ["module of routes", (app) => app.includeRouter({ router: new foreign.Router() })],
    ["Depends() in `dependencies`", (app) => app.get("/", { dependencies: [foreign.Depends(ok) as never] }, ok)],
    [
      "sse() in `returns`",
      (app) => app.get("/", { stream: "sse", returns: foreign.sse({}) as never }, async function* () {}),
    ],
    ["HTTPException, for an exception handler", (app) => app.exceptionHandler(foreign.HTTPException, ok)],
  ])("if an application gets the other's %s", (_, register) => {
    expect(() => register(setUp().app)).toThrow(expect.objectContaining(twoCopies()));
  });
});

describe("with one copy of tsgi that is loaded twice, as by Vite and by Node", () => {
  it("the error names its folder twice", async () => {
    const first = await import("../../src/index.js");
    jest.resetModules();
    const second = await import("../../src/index.js");
    expect(() => new first.App().includeRouter(new second.Router() as never)).toThrow(
      expect.objectContaining({
        code: "TSGI_TWO_COPIES",
        message: expect.stringContaining(`loaded twice, from ${OWN} and from ${OWN}, and`),
      }),
    );
  });
});

describe("with two copies of tsgi", () => {
  it("an application of the other can be mounted, and its schemas and middleware can be used", async () => {
    const setup = setUp();
    const mounted = new foreign.App();
    mounted.get("/", async () => Promise.reject(new foreign.HTTPException(418)));
    setup.app.mount("/mounted", mounted);
    setup.app.addMiddleware(foreign.requestId());
    setup.app.get("/", { params: { n: foreign.t.Integer({ default: 7 }) } }, async ({ n }) => n);
    const response = await fetchRoot(setup);
    expect([await response.json(), response.headers.get("x-request-id")]).toEqual([7, expect.any(String)]);
    expect((await setup.app.fetch(new Request("http://localhost/mounted"))).status).toBe(418);
    expect(setup.errors).toEqual([]);
  });
});
