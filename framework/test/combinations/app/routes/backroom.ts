/** The back room: parts of the framework in each other's way, as they meet in applications that have grown. @module */
import {
  BackgroundTasks,
  Body,
  Cookie,
  Depends,
  FileResponse,
  Form,
  Header,
  HTMLResponse,
  HTTPException,
  JSONResponse,
  PlainTextResponse,
  Query,
  RedirectResponse,
  Request,
  Response as OwnResponse,
  Router,
  StreamingResponse,
  t,
  withParams,
} from "tsgi";
import { httpMiddleware, sessionOf } from "tsgi/middleware";
import { fromFetchHandler } from "tsgi/web";
import { getClerk, getMember, requires, ticket } from "../auth.js";
import { library } from "../library.js";
import { accountSessions, closable, measured, servedBy, smallBodies } from "../middleware.js";
import { NewTool, Problem } from "../models.js";
import { clock } from "../raw.js";
import type { Settings } from "../settings.js";

class LeakError extends Error {}
class FloodError extends LeakError {}

/**
 * A platform's Response with the same type everywhere: Bun adds a charset to the type of `Response.json`, but not to
 * text.
 */
function jsonOf(
  value: unknown,
  { headers = [], status = 200 }: { headers?: [string, string][] | Record<string, string>; status?: number },
) {
  const response = new Response(JSON.stringify(value), { headers, status });
  response.headers.set("content-type", "application/json");
  return response;
}

/** Responses of every form to an error. */
const leaks = {
  stream: () => new StreamingResponse(["drip ", "drop"], { statusCode: 503, mediaType: "text/plain" }),
  platform: () => jsonOf({ drip: true }, { status: 502, headers: { "x-own": "1" } }),
  redirect: () => new RedirectResponse("/v1/tools", { statusCode: 303 }),
  missing: () => new FileResponse("/nowhere/at-all"),
  again: () => {
    throw new HTTPException(507, "The handler fails, too");
  },
  nothing: () => undefined,
};

/** Begins something that ends before the response, and fails at its end if it is asked to. */
const counted = withParams(
  { fail: Query(t.Boolean(), { default: false }), library },
  async function* ({ fail, library }) {
    yield library.tools.size;
    library.note("back", "counted");
    if (fail) throw new HTTPException(409, "The count is wrong");
  },
);

const firstHalf = withParams({ tool: NewTool }, async ({ tool }) => tool.name);
const otherHalf = withParams({ tool: NewTool }, async ({ tool }) => tool.kind);
const formHalf = withParams({ name: Form() }, async ({ name }) => name.toUpperCase());

/** Sets a cookie and a header, for any result of the request. */
const marks = withParams({ response: OwnResponse }, async ({ response }) => {
  response.setCookie("seen", "yes");
  response.headers.set("x-mark", "1");
});

const rewrites = httpMiddleware(async (request, next) => {
  const head = await next();
  if (head.statusCode === 404) {
    const headers = { "x-was": "404", "content-type": "text/plain;charset=UTF-8" };
    return new Response("gone for good", { status: 410, headers });
  }
  if (request.queryParams.has("late")) throw new HTTPException(418, "late");
  return head;
});

export function createBackRoom(settings: Settings) {
  const router = new Router({ prefix: "/back", tags: ["back room"], dependencies: [Depends(marks)] });

  router.get(
    "/leaks/{kind}",
    { exceptionHandlers: [[LeakError, (error: LeakError) => leaks[error.message as keyof typeof leaks]()]] },
    async ({ kind }) => {
      throw new FloodError(kind);
    },
  );
  router.get(
    "/draft/{form}",
    { params: { response: OwnResponse, tasks: BackgroundTasks, library } },
    async ({ form, response, tasks, library }) => {
      response.statusCode = 202;
      response.setCookie("draft", form);
      tasks.addTask(() => library.note("back", `task of ${form}`));
      if (form === "json") return { form };
      if (form === "response") return new JSONResponse({ form }, { statusCode: 203, headers: { "x-own": "1" } });
      if (form === "platform") return jsonOf({ form }, { status: 299 });
      if (form === "stream") return new StreamingResponse(["a", "b"], { mediaType: "text/plain" });
      if (form === "html") return new HTMLResponse("<p>", { background: undefined });
      throw new HTTPException(400, form);
    },
  );
  router.get("/draft-of-items", { params: { response: OwnResponse } }, async function* ({ response }) {
    response.statusCode = 206;
    response.headers.set("x-first", "yes");
    response.setCookie("items", "1");
    yield 1;
    response.headers.set("x-late", "no");
    yield 2;
  });
  router.get(
    "/counted",
    { params: { count: Depends(counted, { scope: "function" }), tasks: BackgroundTasks, library } },
    async ({ count, tasks, library }) => {
      tasks.addTask(() => library.note("back", "task"));
      return count;
    },
  );
  router.post(
    "/halves",
    { params: { name: Depends(firstHalf), kind: Depends(otherHalf), note: Body({ default: "none" }) } },
    async ({ name, kind, note }) => [name, kind, note],
  );
  router.post(
    "/forms",
    { params: { loud: Depends(formHalf), name: Form(), age: Form(t.Integer(), { default: null }) } },
    async (args) => args,
  );
  router.post(
    "/larger",
    { limits: { bodyBytes: 8000 }, params: { request: Request } },
    async ({ request }) => (await request.body()).length,
  );
  router.post("/smaller", { limits: { bodyBytes: 10 }, params: { word: Body(t.String()) } }, async ({ word }) => word);
  router.post(
    "/read-twice",
    { middleware: [measured], params: { request: Request, tool: NewTool } },
    async ({ request, tool }) => [tool.name, (await request.text()).length],
  );
  router.get(
    "/slow/{ms}",
    { limits: { handlerMs: 20 }, params: { ms: t.Integer(), request: Request } },
    async ({ ms, request }) => {
      await new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, ms);
        request.signal.addEventListener("abort", () => {
          clearTimeout(timer);
          reject(request.signal.reason as Error);
        });
      });
      return "in time";
    },
  );
  router.get("/rewritten/{what}", { middleware: [rewrites] }, async ({ what }) => {
    if (what === "missing") throw new HTTPException(404);
    return what;
  });
  router.get(
    "/session",
    {
      middleware: [accountSessions(settings)],
      params: { request: Request, fail: Query(t.Boolean(), { default: false }) },
    },
    async ({ request, fail }) => {
      sessionOf<{ visits?: number }>(request).visits = 1;
      if (fail) throw new HTTPException(409, "but the session is kept");
      return "kept";
    },
  );
  router.get(
    "/proto",
    {
      params: {
        own: Query({ alias: "__proto__", default: "none" }),
        made: Cookie({ alias: "constructor", default: "none" }),
        to: Header({ alias: "to-string", default: "none" }),
      },
    },
    async (args) => args,
  );
  router.get(
    "/both-ways",
    { params: { member: requires("tools"), clerk: Depends(getClerk, { optional: true }), ticket: Depends(ticket) } },
    async ({ member, clerk, ticket }) => [member.name, clerk, ticket],
  );
  router.post(
    "/pooled",
    {
      params: { tool: NewTool, name: Depends(firstHalf), member: Depends(getMember, { optional: true }) },
      returns: t.Object({ name: t.String(), tool: NewTool, by: t.Union([t.String(), t.Null()]) }),
    },
    ({ tool, name, member }) => ({ name, tool, by: member?.name ?? null }),
  );
  router.get("/pooled-counted", { params: { count: Depends(counted, { scope: "function" }) } }, ({ count }) => ({
    count,
    list: [new Date(0), undefined, null],
  }));
  router.get(
    "/text",
    { responses: { 404: { schema: Problem } }, middleware: [closable] },
    async () => new PlainTextResponse("ü"),
  );
  router.post("/bounded", { middleware: [smallBodies], params: { tool: NewTool } }, async ({ tool }) => tool.name);
  router.get("/nothing", async () => {});
  router.get("/status/204", { statusCode: 204 }, async () => ({ dropped: true }));
  router.get("/status/205", async () => new OwnResponse(null, { statusCode: 205 }));
  router.get("/big", async () => ({ big: 10n }));
  router.get("/circle", async () => {
    const circle: Record<string, unknown> = {};
    return (circle["self"] = circle);
  });
  /** The same routes in two places, the second behind a login. */
  const shelf = new Router({ middleware: [servedBy("shelf")] });
  shelf.get("/shelf/{n}", { params: { n: t.Integer() } }, async ({ n }) => n);
  router.includeRouter(shelf);
  router.includeRouter(shelf, { prefix: "/locked", dependencies: [requires("desk")], middleware: [servedBy("lock")] });
  return router;
}

/** Mounts in a router, which has no guards: they would not reach an application that is mounted. */
export function createYard(): Router<string> {
  const router = new Router({ prefix: "/yard", middleware: [servedBy("yard")] });
  router.mount("/clock", clock);
  router.mount(
    "/fetched",
    fromFetchHandler((request) =>
      jsonOf(
        { url: new URL(request.url).pathname, a: request.headers.get("x-a") },
        {
          headers: [
            ["set-cookie", "a=1"],
            ["set-cookie", "b=2"],
          ],
        },
      ),
    ),
  );
  return router;
}
