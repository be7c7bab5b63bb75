/** Applications of other frameworks that an App mounts at `/legacy`, each with the same routes. */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { NodeListener } from "tsgi/node";
import type { Host, Load } from "./_host.js";

type Next = (error?: unknown) => void;
type Middleware = (req: IncomingMessage & { body?: unknown }, res: ServerResponse, next: Next) => void;

/** A framework inside an App. */
export interface Inner extends Pick<Host, "name" | "packages" | "isInstalled"> {
  /**
   * Creates the application: `GET /place` returns `url` and `originalUrl`, `POST /json` the parsed body with two cookies, and
   * `GET /throws` responds with 500.
   */
  create(load: Load): Promise<{ readonly listener: NodeListener; close?(): Promise<void> }>;
}

function sendJSON(res: ServerResponse, status: number, value: unknown): void {
  res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

const place: Middleware = (req, res) => {
  const { url, originalUrl } = req as { url?: string; originalUrl?: string };
  sendJSON(res, 200, { url, originalUrl });
};

const echo: Middleware = (req, res) => {
  res.setHeader("set-cookie", ["a=1", "b=2"]);
  sendJSON(res, 201, req.body);
};

const throws: Middleware = () => {
  throw new Error("broken");
};

const onError = (error: Error, _req: IncomingMessage, res: ServerResponse, _next: Next): void => {
  sendJSON(res, 500, { error: error.message });
};

interface Express {
  (): RequestListener & {
    get(path: string, handler: Middleware): void;
    post(path: string, ...handlers: Middleware[]): void;
    use(handler: typeof onError): void;
  };
  json(): Middleware;
}

function express(name: string, version: string, isInstalled: boolean): Inner {
  return {
    name,
    packages: [`express@${version}`],
    isInstalled,
    create: async (load) => {
      const { default: create } = await load<{ default: Express }>("express");
      const app = create();
      app.get("/place", place);
      app.post("/json", create.json(), echo);
      app.get("/throws", throws);
      app.use(onError);
      return { listener: app };
    },
  };
}

interface Fastify {
  readonly routing: RequestListener;
  get(path: string, handler: (request: { raw: IncomingMessage }) => Promise<unknown>): void;
  post(path: string, handler: (request: { body: unknown }, reply: FastifyReply) => Promise<unknown>): void;
  ready(): Promise<void>;
  close(): Promise<void>;
}
interface FastifyReply {
  code(status: number): FastifyReply;
  header(name: string, value: unknown): FastifyReply;
}

const fastify: Inner = {
  name: "Fastify",
  packages: ["fastify@5.12.8"],
  isInstalled: true,
  create: async (load) => {
    const { default: create } = await load<{ default: () => Fastify }>("fastify");
    const app = create();
    app.get("/place", async ({ raw }) => {
      const { url, originalUrl } = raw as { url?: string; originalUrl?: string };
      return { url, originalUrl };
    });
    app.post("/json", async ({ body }, reply) => {
      reply.code(201).header("set-cookie", ["a=1", "b=2"]);
      return body;
    });
    app.get("/throws", async () => throws({} as never, {} as never, () => {}));
    await app.ready();
    return { listener: app.routing, close: () => app.close() };
  },
};

interface ConnectApp extends RequestListener {
  use(path: string, ...handlers: Middleware[]): void;
  use(handler: typeof onError): void;
}

const connect: Inner = {
  name: "Connect",
  packages: ["connect@3.7.0", "body-parser@2.4.0"],
  isInstalled: false,
  create: async (load) => {
    const { default: create } = await load<{ default: () => ConnectApp }>("connect");
    const { default: parser } = await load<{ default: Pick<Express, "json"> }>("body-parser");
    const app = create();
    app.use("/place", (req, res, next) => {
      Object.assign(req, { url: "/place" }); // Connect removes the path of a middleware
      place(req, res, next);
    });
    app.use("/json", parser.json());
    app.use("/json", echo);
    app.use("/throws", throws);
    app.use(onError);
    return { listener: app };
  },
};

interface KoaContext {
  readonly method: string;
  readonly path: string;
  readonly url: string;
  readonly originalUrl: string;
  readonly request: { readonly body: unknown };
  status: number;
  body: unknown;
  set(name: string, value: unknown): void;
}
interface KoaApp {
  silent: boolean;
  use(middleware: (ctx: KoaContext) => void): void;
  callback(): RequestListener;
}

const koa: Inner = {
  name: "Koa",
  packages: ["koa@3.3.0", "koa-bodyparser@4.4.1"],
  isInstalled: false,
  create: async (load) => {
    const { default: Koa } = await load<{ default: new () => KoaApp }>("koa");
    const { default: parser } = await load<{ default: () => (ctx: KoaContext) => void }>("koa-bodyparser");
    const app = new Koa();
    app.silent = true;
    app.use(parser());
    app.use((ctx) => {
      if (ctx.path === "/place") ctx.body = { url: ctx.url, originalUrl: "/legacy/place" };
      else if (ctx.path === "/throws") throws({} as never, {} as never, () => {});
      else if (ctx.path === "/json") {
        ctx.set("set-cookie", ["a=1", "b=2"]);
        ctx.status = 201;
        ctx.body = ctx.request.body;
      }
    });
    return { listener: app.callback() };
  },
};

interface NestApp {
  use(...handlers: unknown[]): void;
  useBodyParser(type: string): void;
  init(): Promise<void>;
  close(): Promise<void>;
  getHttpServer(): Server;
}

const nest: Inner = {
  name: "Nest 12",
  packages: [
    "@nestjs/core@12.5.0",
    "@nestjs/platform-express@12.5.0",
    "@nestjs/common@12.5.0",
    "reflect-metadata@0.2.2",
    "rxjs@7.8.2",
  ],
  isInstalled: false,
  create: async (load) => {
    await load("reflect-metadata");
    const { NestFactory } = await load<{
      NestFactory: { create: (module: unknown, options: object) => Promise<NestApp> };
    }>("@nestjs/core");
    const { Module } = await load<{ Module: (options: object) => (target: unknown) => void }>("@nestjs/common");
    class Root {}
    Module({})(Root);
    const app = await NestFactory.create(Root, { logger: false, bodyParser: false });
    app.useBodyParser("json");
    app.use((req: IncomingMessage & { path: string }, res: ServerResponse, next: Next) => {
      if (req.path === "/place") place(req, res, next);
      else if (req.path === "/json") echo(req, res, next);
      else if (req.path === "/throws") throws(req, res, next);
      else next();
    });
    await app.init();
    return { listener: app.getHttpServer(), close: () => app.close() };
  },
};

/** Socket.IO and plain routes on a server that never listens. */
export const socketIO: Inner = {
  name: "Socket.IO",
  packages: ["socket.io@4.8.4", "socket.io-client@4.8.4"],
  isInstalled: false,
  create: async (load) => {
    const { Server: IO } = await load<{ Server: new (server: Server) => SocketIOServer }>("socket.io");
    const server = createServer((_req, res) => sendJSON(res, 200, "plain"));
    const io = new IO(server);
    io.on("connection", (socket) => socket.on("echo", (text, reply) => reply(`${text} ${socket.conn.transport.name}`)));
    return {
      listener: server,
      close: async () => {
        await io.close();
      },
    };
  },
};

interface SocketIOServer {
  on(event: "connection", listener: (socket: SocketIOSocket) => void): void;
  close(): Promise<void>;
}
interface SocketIOSocket {
  readonly conn: { readonly transport: { readonly name: string } };
  on(event: "echo", listener: (text: string, reply: (text: string) => void) => void): void;
}

export const inners: readonly Inner[] = [
  express("Express 5", "5.3.0", true),
  fastify,
  express("Express 4", "4.22.3", false),
  connect,
  koa,
  nest,
];
