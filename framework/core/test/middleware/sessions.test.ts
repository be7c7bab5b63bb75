import { expect, it, jest } from "@jest/globals";
import * as fc from "../../../test/support/fast-check.js";
import { App, BackgroundTasks, ConfigurationError, PlainTextResponse, Request, t } from "../../src/index.js";
import { Deferred } from "../../src/common/promises.js";
import { SignedText } from "../../src/middleware/sessions/keeping.js";
import {
  clearSession,
  renewSession,
  requestId,
  sessionOf,
  sessions,
  type SessionsOptions,
} from "../../src/middleware/index.js";
import type { Answer } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";

const SECRET = "0123456789abcdef0123456789abcdef";
const OTHER = "fedcba9876543210fedcba9876543210";

function create(options: Partial<SessionsOptions> = {}) {
  const log = new KeptLog();
  const app = new App({ logger: log, middleware: [requestId(), sessions({ secret: SECRET, ...options })] });
  const params = { request: Request };
  app.get("/", { params }, async ({ request }) => sessionOf(request));
  app.get("/untouched", async () => "nothing read");
  app.post("/", { params: { ...params, data: t.Record(t.String(), t.Unknown()) } }, async ({ request, data }) => {
    Object.assign(sessionOf(request), data);
  });
  app.delete("/", { params }, async ({ request }) => clearSession(request));
  return { app, log };
}

/** The cookie of a response, as the next request sends it. */
const cookieOf = ({ headers }: Answer) => (headers["set-cookie"] ?? "").split(";", 1)[0] as string;

const withCookie = (cookie: string) => ({ headers: [["cookie", cookie]] as const });

describeMatrix("sessions", ({ call }) => {
  it("keeps data from one request to the next", async () => {
    const { app } = create();
    const set = await call(app, "POST", "/", { json: { user: 7, names: ["a"] } });
    expect(set.headers["set-cookie"]).toMatch(
      /^__Host-session=[\w-]+\.[\w-]{43}; Max-Age=1209600; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
    );
    const get = await call(app, "GET", "/", withCookie(cookieOf(set)));
    expect(get.json).toEqual({ user: 7, names: ["a"] });
  });

  it("sets the cookie only when the data have changed", async () => {
    const { app } = create();
    const set = await call(app, "POST", "/", { json: { user: 7 } });
    for (const [method, path] of [
      ["GET", "/"],
      ["GET", "/untouched"],
      ["POST", "/"],
    ] as const) {
      const json = method === "POST" ? { user: 7 } : undefined;
      const answer = await call(app, method, path, { ...withCookie(cookieOf(set)), json });
      expect(answer.headers).not.toHaveProperty("set-cookie");
    }
    const nested = await call(app, "POST", "/", { ...withCookie(cookieOf(set)), json: { user: { id: 8 } } });
    expect((await call(app, "GET", "/", withCookie(cookieOf(nested)))).json).toEqual({ user: { id: 8 } });
  });

  it.each([
    ["stream", clearSession],
    ["stream", renewSession],
    ["task", clearSession],
    ["task", renewSession],
  ])("cannot change in a %s, after the response has started: %p", async (place, change) => {
    const { app } = create();
    const tried = new Deferred<unknown>();
    const attempt = (request: Request) => {
      try {
        tried.resolve(change(request));
      } catch (error) {
        tried.resolve(error);
      }
    };
    app.get("/stream", { params: { request: Request } }, async function* ({ request }) {
      yield 1;
      attempt(request);
    });
    app.get("/task", { params: { request: Request, tasks: BackgroundTasks } }, async ({ request, tasks }) =>
      tasks.addTask(async () => attempt(request)),
    );
    await call(app, "GET", `/${place}`);
    expect(await tried.promise).toMatchObject({ code: "TSGI_SESSION_ALREADY_SENT" });
  });

  it("removes the cookie of an empty session", async () => {
    const { app } = create();
    const set = await call(app, "POST", "/", { json: { user: 7 } });
    const cleared = await call(app, "DELETE", "/", withCookie(cookieOf(set)));
    expect(cleared.headers["set-cookie"]).toMatch(/^__Host-session=; Max-Age=0; /);
  });

  it("adds Vary: Cookie if the session was read", async () => {
    const { app } = create();
    expect((await call(app, "GET", "/")).headers["vary"]).toBe("Cookie");
    expect((await call(app, "GET", "/untouched")).headers).not.toHaveProperty("vary");
  });

  it.each<[string, (cookie: string) => string]>([
    ["changed", (cookie) => cookie.replace("=", "=A")],
    ["changed in its signature", (cookie) => cookie.slice(0, -2) + (cookie.endsWith("AA") ? "BB" : "AA")],
    ["cut", (cookie) => cookie.slice(0, -1)],
    ["without a signature", (cookie) => cookie.split(".")[0] as string],
    ["empty", (cookie) => `${cookie.split("=")[0]}=`],
    ["of another kind", (cookie) => `${cookie.split("=")[0]}=%7B%22user%22%3A7%7D`],
    ["too long", (cookie) => cookie.replace(".", `${"A".repeat(5000)}.`)],
    ["longer by a part", (cookie) => `${cookie}.x`],
  ])("is empty with a cookie that is %s", async (_, change) => {
    const { app } = create();
    const set = await call(app, "POST", "/", { json: { user: 7 } });
    const answer = await call(app, "GET", "/", withCookie(change(cookieOf(set))));
    expect(answer).toMatchObject({ status: 200, json: {} });
  });

  it("is empty with a cookie that was signed with another secret, or under another name", async () => {
    const { app } = create({ secure: false });
    const foreign = await call(create({ secure: false, secret: OTHER }).app, "POST", "/", { json: { user: 7 } });
    expect((await call(app, "GET", "/", withCookie(cookieOf(foreign)))).json).toEqual({});
    const renamed = await call(create({ secure: false, cookie: "other" }).app, "POST", "/", { json: { user: 7 } });
    const cookie = cookieOf(renamed).replace("other=", "session=");
    expect((await call(app, "GET", "/", withCookie(cookie))).json).toEqual({});
  });

  it("accepts signatures of older secrets, and signs with the first", async () => {
    const old = await call(create().app, "POST", "/", { json: { user: 7 } });
    const { app } = create({ secret: [OTHER, SECRET] });
    expect((await call(app, "GET", "/", withCookie(cookieOf(old)))).json).toEqual({ user: 7 });
    const fresh = await call(app, "POST", "/", { json: { user: 8 } });
    expect((await call(create({ secret: OTHER }).app, "GET", "/", withCookie(cookieOf(fresh)))).json).toEqual({
      user: 8,
    });
    expect((await call(create().app, "GET", "/", withCookie(cookieOf(fresh)))).json).toEqual({});
  });

  it("is empty once it is too old", async () => {
    const { app } = create({ maxAge: 60 });
    const set = await call(app, "POST", "/", { json: { user: 7 } });
    expect(set.headers["set-cookie"]).toContain("; Max-Age=60;");
    const now = Date.now();
    const clock = jest.spyOn(Date, "now");
    try {
      clock.mockReturnValue(now + 58_000);
      expect((await call(app, "GET", "/", withCookie(cookieOf(set)))).json).toEqual({ user: 7 });
      clock.mockReturnValue(now + 61_000);
      expect((await call(app, "GET", "/", withCookie(cookieOf(set)))).json).toEqual({});
    } finally {
      clock.mockRestore();
    }
  });

  it("results in 500 and a log entry if the data exceed the size of a cookie, which is never truncated", async () => {
    const { app, log } = create();
    const answer = await call(app, "POST", "/", { json: { text: "x".repeat(4000) } });
    expect(answer).toMatchObject({ status: 500, json: { detail: "Internal Server Error" } });
    expect(answer.headers).not.toHaveProperty("set-cookie");
    expect(log.lines).toEqual([expect.stringMatching(/The session takes \d+ bytes as a cookie, more than 4096/)]);
  });

  it("adds its cookie to the cookies of the application", async () => {
    const app = new App({ logger: new KeptLog(), middleware: [sessions({ secret: SECRET })] });
    app.get("/", { params: { request: Request } }, async ({ request }) => {
      sessionOf<{ user?: number }>(request).user = 7;
      const response = new PlainTextResponse("");
      response.setCookie("own", "1");
      return response;
    });
    const lines = (await call(app, "GET", "/")).headerLines.filter(([name]) => name === "set-cookie");
    expect(lines.map(([, value]) => value.split("=")[0])).toEqual(["own", "__Host-session"]);
  });

  it("treats names of prototypes as data", async () => {
    const { app } = create();
    const text = '{"__proto__":{"admin":true},"constructor":1}';
    const set = await call(app, "POST", "/", { text });
    const { json } = await call(app, "GET", "/", withCookie(cookieOf(set)));
    expect(Object.keys(json as object)).toEqual(expect.arrayContaining(["constructor"]));
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  it("is missing with an error that suggests the fix", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    app.get("/", { params: { request: Request } }, async ({ request }) => sessionOf(request));
    expect((await call(app, "GET", "/")).status).toBe(500);
    expect(log.lines).toEqual([
      expect.stringContaining(
        "This request has no session. Add the middleware: app.addMiddleware(sessions({ secret }))",
      ),
    ]);
  });
});

it("a signed string is verified, and any other string is rejected", async () => {
  const signed = new SignedText("test", [SECRET]);
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme" }), fc.string(), async (text, other) => {
      const sealed = await signed.seal(text);
      expect(sealed).toMatch(/^[\w-]*\.[\w-]{43}$/);
      if (text !== "") expect(await signed.open(sealed)).toBe(text);
      expect(await signed.open(other)).toBeNull();
    }),
    { numRuns: 50 },
  );
});

it.each<[string, unknown, RegExp]>([
  ["no options", undefined, /takes an object/],
  ["no secret", {}, /needs a secret of at least 32 bytes/],
  ["a short secret", { secret: "short" }, /needs a secret of at least 32 bytes/],
  ["a short one among others", { secret: [SECRET, ""] }, /needs a secret/],
  ["no secrets", { secret: [] }, /needs a secret/],
  ["an age that is none", { secret: SECRET, maxAge: 0 }, /maxAge should be a whole number/],
  ["a name that is none", { secret: SECRET, cookie: "a b" }, /cookie name "a b"/],
  ["what browsers refuse", { secret: SECRET, sameSite: "none", secure: false }, /reject sameSite "none"/],
  ["another option", { secret: SECRET, secrets: [] }, /no option "secrets"/],
])("sessions rejects %s when it is created, without showing a secret", (_, options, message) => {
  const make = () => sessions(options as SessionsOptions);
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(message);
  expect(make).not.toThrow(/0123456789|short"/);
});
