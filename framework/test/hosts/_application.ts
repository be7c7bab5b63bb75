/** The applications that a host serves at its prefixes, each by its own handler. */
import path from "node:path";
import {
  App,
  type ASGIApp,
  Body,
  event,
  EventSourceResponse,
  File,
  Form,
  HTTPException,
  Query,
  Request,
  Response,
  StreamingResponse,
  t,
  WebSocket,
} from "tsgi";
import { type NodeHandler, nodeRequest, toNodeHandler } from "tsgi/node";
import { KeptLog } from "../support/kept-log.js";

/** The member that the middleware of each host adds to the request. */
export interface HostUser {
  readonly user?: { readonly name: string };
}

/** The state of a request that waits for its disconnect, by key. */
const notes = new Map<string, string>();

const Item = t.Object({ name: t.String({ minLength: 1 }), tags: t.Array(t.String(), { default: [] }) });

function addPlaces(app: App): void {
  const place = async ({ request }: { request: Request }) => ({
    path: request.scope.path,
    root_path: request.scope.root_path,
    query: Buffer.from(request.scope.query_string ?? []).toString(),
  });
  app.get("/", { params: { request: Request } }, place);
  app.get("/where", { params: { request: Request } }, place);
  app.get("/text/{text}", { params: { q: Query(t.String({ default: "" })) } }, async ({ text, q }) => ({ text, q }));
  app.get("/user", { params: { request: Request } }, async ({ request }) => {
    return nodeRequest<HostUser>(request)?.user?.name ?? null;
  });
}

function addBodies(app: App): void {
  app.post("/json", { params: { item: Item } }, async ({ item }) => item);
  app.post("/value", { params: { value: Body(t.Any()) } }, async ({ value }) => ({ value }));
  const form = { name: Form(), tags: Form(t.Array(t.String())) };
  app.post("/form", { params: form }, async ({ name, tags }) => ({ name, tags }));
  app.post("/upload", { params: { file: File() } }, async ({ file }) => ({ size: file.size, name: file.filename }));
  app.post("/echo", { params: { request: Request } }, async ({ request }) => {
    const body = await request.body();
    const { "content-type": type = null, "content-length": length = null } = request.headers;
    return { type, length, text: Buffer.from(body).toString() };
  });
  app.post("/unread", async () => "unread");
}

function addResponses(app: App): void {
  app.get("/headers", { params: { response: Response } }, async ({ response }) => {
    response.headers.append("vary", "Accept");
    response.headers.append("link", "</a>; rel=next");
    response.headers.set("x-both", "application");
    response.setCookie("a", "1");
    response.setCookie("b", "2");
    return "headers";
  });
  app.get("/download", async () => new StreamingResponse(mebibytes(10)));
  app.get("/created", { statusCode: 204 }, async () => null);
  app.get("/events", async () => new EventSourceResponse(events()));
  app.get("/missing", async () => {
    throw new HTTPException(404, "no such item");
  });
  app.get("/throws", async () => {
    throw new Error("broken");
  });
  app.get("/waits/{key}", { params: { request: Request } }, async ({ key, request }) => {
    notes.set(key, "waits");
    await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
    notes.set(key, "aborted");
  });
  app.get("/notes/{key}", async ({ key }) => notes.get(key) ?? null);
}

async function* mebibytes(count: number) {
  for (let index = 0; index < count; index++) yield new Uint8Array(1 << 20).fill(index);
}

async function* events() {
  for (const data of ["one", "two", "three"]) yield event({ data });
}

/** An application with a lifespan. */
export function createApp(): App {
  let starts = 0;
  const app = new App({
    title: "Hosted",
    logger: new KeptLog(),
    lifespan: async function* () {
      yield { starts: ++starts };
    },
  });
  app.get("/starts", { params: { request: Request } }, async ({ request }) => request.state["starts"]);
  addPlaces(app);
  addBodies(app);
  addResponses(app);
  app.websocket("/ws", { params: { ws: WebSocket } }, async ({ ws }) => {
    await ws.accept();
    await ws.sendText(
      `${await ws.receiveText()} ${nodeRequest(ws)?.headers["x-client"] as string} ${ws.scope.root_path}`,
    );
  });
  return app;
}

/** An application whose first start fails, and which reports the end of its lifespan. */
export function createFailing(ends: string[]): App {
  let tries = 0;
  const app = new App({
    logger: new KeptLog(),
    lifespan: async function* () {
      if (++tries === 1) throw new Error("the database is not there yet");
      yield;
      ends.push("ended");
    },
  });
  app.get("/", async () => tries);
  return app;
}

/** A handler at a prefix of the host. */
export interface Mount {
  readonly prefix: string;
  readonly handler: NodeHandler;
  /** `true` if the parsers of the host read the body before the handler. */
  readonly isParsed: boolean;
}

/** The prefix of the application that the statements about deployed applications know. The host adds no headers there. */
export const ANYWHERE = "/anywhere";

/** Everything that a host serves, and the events that it reports. */
export interface Mounts {
  readonly all: readonly Mount[];
  /** The handler of the application whose first start fails. */
  readonly failing: NodeHandler;
  readonly ends: readonly string[];
}

const MODULE: string = "../anywhere/app/app.mjs"; // not a literal, as JavaScript has no types here

/** Makes the handlers of one host. */
export async function createMounts(): Promise<Mounts> {
  const ends: string[] = [];
  const { createApp: createAnywhere } = (await import(MODULE)) as { createApp: (options: object) => ASGIApp };
  const files = path.join(import.meta.dirname, "../anywhere/app/public");
  const logger = new KeptLog();
  const mount = (prefix: string, app: ASGIApp, isParsed = false): Mount => {
    const handler = toNodeHandler(app, { prefix, fallthrough: true, onError: "next", logger });
    return { prefix, handler, isParsed };
  };
  const anywhere = createAnywhere({ files, pool: { kind: "inline" } });
  const failing = mount("/failing", createFailing(ends));
  return {
    all: [
      mount("/api", createApp()),
      mount("/outer/inner", createApp()),
      mount("/parsed", createApp(), true),
      { prefix: ANYWHERE, handler: toNodeHandler(anywhere, { prefix: ANYWHERE, logger }), isParsed: false },
      failing,
    ],
    failing: failing.handler,
    ends,
  };
}
