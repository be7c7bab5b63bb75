/** The hosts of the table. */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { hostBody, type Host, listen, prepare, respond } from "./_host.js";

type Next = (error?: unknown) => void;
type Middleware = (req: IncomingMessage, res: ServerResponse, next: Next) => void;
type ErrorMiddleware = (error: Error, req: IncomingMessage, res: ServerResponse, next: Next) => void;

/** The methods of Express that Connect has too. */
interface ConnectApp extends RequestListener {
  use(path: string, ...handlers: (Middleware | ConnectApp)[]): void;
  use(handler: Middleware): void;
  use(handler: ErrorMiddleware): void;
}

interface Express {
  (): ConnectApp;
  Router(): ConnectApp;
  json(): Middleware;
  urlencoded(options: object): Middleware;
  text(): Middleware;
}

const notFound: Middleware = (_req, res) => respond(res, 404, "no route");
const onError: ErrorMiddleware = (error, _req, res, _next) => respond(res, 500, error.message);

const NO_PARSERS = "the host has no parsers of bodies";

const nodeHTTP: Host = {
  name: "node:http",
  packages: [],
  isInstalled: true,
  lacks: { parsers: NO_PARSERS },
  start: (mounts) => {
    const server = createServer((req, res) => {
      prepare(req, res);
      const { handler } = mounts.all.find(({ prefix }) => req.url?.startsWith(prefix)) ?? {};
      const next = (error?: unknown) =>
        error === undefined ? respond(res, 404, "no route") : respond(res, 500, (error as Error).message);
      if (handler === undefined) next();
      else handler(req, res, next);
    });
    return listen(server, mounts);
  },
};

function express(name: string, version: string, isInstalled: boolean): Host {
  return {
    name,
    packages: [`express@${version}`],
    isInstalled,
    lacks: {},
    start: async (mounts, load) => {
      const { default: create } = await load<{ default: Express }>("express");
      const app = create();
      app.use((req, res, next) => {
        prepare(req, res);
        next();
      });
      const outer = create.Router();
      const parsers = [create.json(), create.urlencoded({ extended: true }), create.text()];
      for (const { prefix, handler, isParsed } of mounts.all) {
        if (prefix.startsWith("/outer")) outer.use(prefix.slice("/outer".length), handler);
        else app.use(prefix, ...(isParsed ? parsers : []), handler);
      }
      app.use("/outer", outer);
      app.use(notFound);
      app.use(onError);
      return listen(createServer(app), mounts);
    },
  };
}

const connect: Host = {
  name: "Connect",
  packages: ["connect@3.7.0", "body-parser@2.4.0"],
  isInstalled: false,
  lacks: {},
  start: async (mounts, load) => {
    const { default: create } = await load<{ default: () => ConnectApp }>("connect");
    const { default: parser } = await load<{ default: Pick<Express, "json" | "urlencoded" | "text"> }>("body-parser");
    const app = create();
    app.use((req, res, next) => {
      prepare(req, res);
      next();
    });
    for (const parse of [parser.json(), parser.urlencoded({ extended: true }), parser.text()])
      app.use("/parsed", parse);
    const outer = create();
    for (const { prefix, handler } of mounts.all) {
      if (prefix.startsWith("/outer")) outer.use(prefix.slice("/outer".length), handler);
      else app.use(prefix, handler);
    }
    app.use("/outer", outer);
    app.use(notFound);
    app.use(onError);
    return listen(createServer(app), mounts);
  },
};

interface FastifyReply {
  readonly raw: ServerResponse;
  hijack(): void;
  code(status: number): FastifyReply;
  type(type: string): FastifyReply;
  send(body: string): void;
}
interface FastifyRequest {
  readonly raw: IncomingMessage & { body?: unknown };
  readonly body: unknown;
}
interface FastifyInstance {
  readonly server: Server;
  use(path: string, handler: Middleware): void;
  use(handler: Middleware): void;
  addHook(name: "onRequest", hook: (request: FastifyRequest, reply: FastifyReply, done: () => void) => void): void;
  addContentTypeParser(type: string, parse: (request: unknown, payload: unknown, done: Next) => void): void;
  addContentTypeParser(type: string, options: { parseAs: "string" }, parse: "json" | ((...args: never) => void)): void;
  removeAllContentTypeParsers(): void;
  register(plugin: unknown): Promise<void>;
  all(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => void): void;
  setErrorHandler(handler: (error: Error, request: FastifyRequest, reply: FastifyReply) => void): void;
  setNotFoundHandler(handler: (request: FastifyRequest, reply: FastifyReply) => void): void;
  ready(): Promise<void>;
  close(): Promise<void>;
}
type Fastify = (options: object) => FastifyInstance;

/** Fastify with its own responses to unknown paths and errors. */
function createFastify(create: Fastify): FastifyInstance {
  const app = create({ forceCloseConnections: true });
  const send = (reply: FastifyReply, status: number, text: string) =>
    reply.code(status).type("application/json").send(hostBody(text));
  app.setErrorHandler((error, _request, reply) => send(reply, 500, error.message));
  app.setNotFoundHandler((_request, reply) => send(reply, 404, "no route"));
  return app;
}

const PARSES_LATER = "Fastify parses bodies after its middleware";

const middie: Host = {
  name: "Fastify, @fastify/middie",
  packages: ["fastify@5.12.8", "@fastify/middie@9.3.6"],
  isInstalled: true,
  lacks: { parsers: PARSES_LATER },
  start: async (mounts, load) => {
    const { default: create } = await load<{ default: Fastify }>("fastify");
    const { default: plugin } = await load<{ default: unknown }>("@fastify/middie");
    const app = createFastify(create);
    await app.register(plugin);
    app.use((req, res, next) => {
      prepare(req, res);
      next();
    });
    for (const { prefix, handler } of mounts.all) app.use(prefix, handler);
    await app.ready();
    return listen(app.server, mounts, () => app.close());
  },
};

const HIJACKED = "a reply that is hijacked does not go back to Fastify";

const hijack: Host = {
  name: "Fastify, hijack",
  packages: ["fastify@5.12.8"],
  isInstalled: true,
  lacks: { fallthrough: HIJACKED, "error middleware": HIJACKED },
  start: async (mounts, load) => {
    const { default: create } = await load<{ default: Fastify }>("fastify");
    const app = createFastify(create);
    app.addHook("onRequest", (request, reply, done) => {
      prepare(request.raw, reply.raw);
      done();
    });
    for (const { prefix, handler, isParsed } of mounts.all) {
      await app.register(async (scope: FastifyInstance) => {
        if (isParsed) {
          scope.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, ((
            _request: unknown,
            text: string,
            done: (error: null, body: unknown) => void,
          ) => {
            const fields = new URLSearchParams(text);
            done(null, Object.fromEntries([...fields.keys()].map((key) => [key, fields.getAll(key)])));
          }) as never);
          scope.addContentTypeParser("text/plain", { parseAs: "string" }, ((
            _request: unknown,
            text: string,
            done: (error: null, body: unknown) => void,
          ) => done(null, text)) as never);
          scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
        } else {
          scope.removeAllContentTypeParsers();
          scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
        }
        for (const pattern of [prefix, `${prefix}/*`]) {
          scope.all(pattern, ({ raw, body }, reply) => {
            reply.hijack();
            if (isParsed) raw.body = body;
            handler(raw, reply.raw);
          });
        }
      });
    }
    await app.ready();
    return listen(app.server, mounts, () => app.close());
  },
};

interface KoaContext {
  readonly req: IncomingMessage & { body?: unknown };
  readonly res: ServerResponse;
  readonly request: { readonly body?: unknown };
  readonly path: string;
  respond: boolean;
  status: number;
  body: unknown;
}
interface KoaApp {
  silent: boolean;
  use(middleware: (ctx: KoaContext, next: () => Promise<void>) => unknown): void;
  callback(): RequestListener;
}

const koa: Host = {
  name: "Koa",
  packages: ["koa@3.3.0", "koa-bodyparser@4.4.1"],
  isInstalled: false,
  lacks: {},
  start: async (mounts, load) => {
    const { default: Koa } = await load<{ default: new () => KoaApp }>("koa");
    const { default: parser } = await load<{
      default: (options: object) => (ctx: KoaContext, next: () => Promise<void>) => Promise<void>;
    }>("koa-bodyparser");
    const app = new Koa();
    const parse = parser({ enableTypes: ["json", "form", "text"] });
    app.silent = true;
    app.use(async (ctx, next) => {
      try {
        prepare(ctx.req, ctx.res);
        await next();
      } catch (error) {
        ctx.status = 500;
        ctx.body = { host: (error as Error).message };
      }
    });
    for (const { prefix, handler, isParsed } of mounts.all) {
      app.use(async (ctx, next) => {
        if (ctx.path !== prefix && !ctx.path.startsWith(`${prefix}/`)) return next();
        if (isParsed) {
          await parse(ctx, async () => {});
          ctx.req.body = ctx.request.body;
        }
        ctx.respond = false;
        await new Promise<void>((resolve, reject) => {
          ctx.res.once("close", resolve);
          handler(ctx.req, ctx.res, (error) => {
            ctx.respond = true;
            if (error === undefined) resolve(next());
            else reject(error);
          });
        });
      });
    }
    app.use((ctx) => {
      ctx.status = 404;
      ctx.body = { host: "no route" };
    });
    return listen(createServer(app.callback()), mounts);
  },
};

interface NestApp {
  use(prefix: string, ...handlers: Middleware[]): void;
  use(handler: Middleware): void;
  useBodyParser(type: string, options?: object): void;
  useGlobalFilters(filter: object): void;
  init(): Promise<void>;
  close(): Promise<void>;
  getHttpServer(): Server;
}
interface Nest {
  readonly NestFactory: { create(module: unknown, ...settings: unknown[]): Promise<NestApp> };
  Module(options: object): (target: unknown) => void;
  Catch(): (target: unknown) => void;
}
interface NestHost {
  switchToHttp(): { getResponse(): ServerResponse | { raw: ServerResponse } };
}

/** Nest on one of its two platforms, with a filter for its own 404 and for errors of its middleware. */
function nest(platform: "Express" | "Fastify"): Host {
  const isExpress = platform === "Express";
  const platformPackage = `@nestjs/platform-${platform.toLowerCase()}@12.5.0`;
  const peers = ["@nestjs/common@12.5.0", "reflect-metadata@0.2.2", "rxjs@7.8.2"];
  return {
    name: `Nest 12, ${platform}`,
    packages: ["@nestjs/core@12.5.0", platformPackage, ...peers],
    isInstalled: false,
    lacks: isExpress ? {} : { parsers: PARSES_LATER },
    start: async (mounts, load) => {
      await load("reflect-metadata");
      const { NestFactory } = await load<Pick<Nest, "NestFactory">>("@nestjs/core");
      const { Module, Catch } = await load<Omit<Nest, "NestFactory">>("@nestjs/common");
      class Root {}
      Module({})(Root);
      class Filter {
        catch(error: Error & { getStatus?: () => number }, host: NestHost): void {
          const given = host.switchToHttp().getResponse();
          const status = error.getStatus?.() ?? 500;
          respond("raw" in given ? given.raw : given, status, status === 404 ? "no route" : error.message);
        }
      }
      Catch()(Filter);
      const adapter = isExpress
        ? []
        : [
            new (
              await load<{ FastifyAdapter: new (options: object) => object }>("@nestjs/platform-fastify")
            ).FastifyAdapter({ forceCloseConnections: true }),
          ];
      const app = await NestFactory.create(Root, ...adapter, { logger: false, bodyParser: false });
      app.useGlobalFilters(new Filter());
      app.use((req, res, next) => {
        prepare(req, res);
        next();
      });
      for (const { prefix, handler, isParsed } of mounts.all) if (!isParsed) app.use(prefix, handler);
      if (isExpress) for (const type of ["json", "urlencoded", "text"]) app.useBodyParser(type, { extended: true });
      for (const { prefix, handler, isParsed } of mounts.all) if (isParsed) app.use(prefix, handler);
      await app.init();
      const ready = (
        app as { getHttpAdapter?: () => { getInstance(): { ready?: () => Promise<void> } } }
      ).getHttpAdapter?.();
      await ready?.getInstance().ready?.();
      return listen(app.getHttpServer(), mounts, () => app.close());
    },
  };
}

interface HonoContext {
  readonly env: { readonly incoming: IncomingMessage & { body?: unknown }; readonly outgoing: ServerResponse };
  json(value: unknown, status: number): Response;
}
interface HonoApp {
  use(handler: (context: HonoContext, next: () => Promise<void>) => Promise<unknown>): void;
  all(path: string, handler: (context: HonoContext, next: () => Promise<void>) => unknown): void;
  notFound(handler: (context: HonoContext) => Response): void;
  onError(handler: (error: Error, context: HonoContext) => Response): void;
  readonly fetch: unknown;
}

const hono: Host = {
  name: "Hono, @hono/node-server",
  packages: ["hono@4.13.19", "@hono/node-server@2.1.9"],
  isInstalled: false,
  lacks: { parsers: NO_PARSERS },
  start: async (mounts, load) => {
    const { Hono } = await load<{ Hono: new () => HonoApp }>("hono");
    const { createAdaptorServer } = await load<{ createAdaptorServer: (options: object) => Server }>(
      "@hono/node-server",
    );
    const { RESPONSE_ALREADY_SENT } = await load<{ RESPONSE_ALREADY_SENT: Response }>(
      "@hono/node-server/utils/response",
    );
    const app = new Hono();
    app.use(async ({ env }, next) => {
      prepare(env.incoming, env.outgoing);
      await next();
    });
    for (const { prefix, handler } of mounts.all) {
      const pass = ({ env: { incoming, outgoing } }: HonoContext, next: () => Promise<void>) =>
        new Promise((resolve, reject) => {
          outgoing.once("close", () => resolve(RESPONSE_ALREADY_SENT));
          handler(incoming, outgoing, (error) => {
            if (error === undefined) resolve(next());
            else reject(error);
          });
        });
      app.all(prefix, pass);
      app.all(`${prefix}/*`, pass);
    }
    app.notFound((context) => context.json({ host: "no route" }, 404));
    app.onError((error, context) => context.json({ host: error.message }, 500));
    return listen(createAdaptorServer({ fetch: app.fetch }), mounts);
  },
};

interface H3Event {
  readonly runtime: { readonly node: { readonly req: IncomingMessage; readonly res: ServerResponse } };
}
interface H3App {
  use(handler: (event: H3Event) => void): H3App;
  use(path: string, handler: unknown): H3App;
  all(path: string, handler: unknown): H3App;
}
interface H3Module {
  readonly H3: new (options: object) => H3App;
  readonly fromNodeHandler: (handler: Middleware) => unknown;
  readonly toNodeHandler: (app: H3App) => RequestListener;
}

const h3: Host = {
  name: "h3 2",
  packages: ["h3@2.0.8"],
  isInstalled: false,
  lacks: { parsers: NO_PARSERS },
  start: async (mounts, load) => {
    const { H3, fromNodeHandler, toNodeHandler } = await load<H3Module>("h3/node");
    const json = (text: string, status: number) =>
      new Response(hostBody(text), { status, headers: { "content-type": "application/json" } });
    const app = new H3({
      silent: true,
      onError: (error: Error) => json((error.cause as Error | undefined)?.message ?? error.message, 500),
    });
    app.use(({ runtime: { node } }) => prepare(node.req, node.res));
    for (const { prefix, handler } of mounts.all) {
      app.use(`${prefix}/**`, fromNodeHandler(handler));
    }
    app.all("/**", () => json("no route", 404));
    return listen(createServer(toNodeHandler(app)), mounts);
  },
};

export const hosts: readonly Host[] = [
  nodeHTTP,
  express("Express 5", "5.3.0", true),
  express("Express 4", "4.22.3", false),
  connect,
  middie,
  hijack,
  koa,
  nest("Express"),
  nest("Fastify"),
  hono,
  h3,
];
