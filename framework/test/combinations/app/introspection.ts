/** Routes for the operator: the routes, their parameters, settings, figures. @module */
import {
  type Annotation,
  type App,
  type AppDelete,
  type AppGet,
  type AppPatch,
  type AppPost,
  type AppPut,
  type Callable,
  compileHandler,
  type CompiledHandler,
  type Logger,
  ParamKind,
  type Params,
  type ParamSpec,
  RecursionError,
  Request,
  type RouteMetadata,
  type RouteRecord,
  Router,
  type Schema,
  t,
} from "tsgi";
import { countVisit, createStore } from "./middleware.js";
import { codeOf, refuseSetting } from "./errors.js";
import { type Library, library } from "./library.js";
import type { Settings } from "./settings.js";
import { vendorOf } from "./models.js";
import { REPLACEABLE } from "./auth.js";

/** An App, of which a module needs the verbs. */
interface Registrar extends Pick<App, keyof App> {
  readonly get: AppGet;
  readonly post: AppPost;
  readonly put: AppPut;
  readonly patch: AppPatch;
  readonly delete: AppDelete;
}

const nameOf = (kind: ParamKind) => Object.entries(ParamKind).find(([, number]) => number === kind)?.[0] ?? "?";

/** The source of each parameter of a handler, by its name. */
export function sourcesOf(handler: Callable, path: string, params: Params): Record<string, string> {
  const [specs]: CompiledHandler = compileHandler(handler, path, params);
  return Object.fromEntries(specs.map(({ name, kind }: ParamSpec) => [name, nameOf(kind)]));
}

const isSchema = (annotation: Annotation): annotation is Schema => "~standard" in annotation || "type" in annotation;

/** Names the libraries of a route's schemas. */
const vendorsOf = ({ metadata }: RouteRecord) =>
  Object.values(metadata.params ?? {})
    .filter(isSchema)
    .map(vendorOf);

function describeRoute(route: RouteRecord): object {
  const { method, path, metadata } = route;
  const { tags = [], deprecated = false }: RouteMetadata = metadata;
  return { method, path, tags, deprecated, vendors: vendorsOf(route) };
}

const hidden = { includeInSchema: false } as const;

/** One route for each verb, excluded from the document. */
export function addSwitches(app: Registrar): void {
  let state = "off";
  app.get("/switch", hidden, async () => state);
  app.post("/switch", hidden, async () => (state = "on"));
  app.put("/switch/{to}", hidden, async ({ to }) => (state = to));
  app.patch("/switch", hidden, async () => (state = "dimmed"));
  app.delete("/switch", hidden, async () => (state = "off"));
}

/** Routes of the operator, below a prefix that the App names. */
export function createIntrospection(app: () => App, settings: Settings, logger: Logger): Router {
  const router = new Router({ includeInSchema: false });
  const store = createStore();
  router.get("/routes", { params: { path: t.Optional(t.String()) } }, async ({ path }) =>
    app()
      .routes.filter((route) => path === undefined || route.path === path)
      .map(describeRoute),
  );
  router.get("/sources", { params: { path: t.String() } }, async ({ path }) =>
    app()
      .routes.filter((route) => route.path === path && route.method === "GET")
      .map(({ handler, metadata }) => sourcesOf(handler, path, metadata.params ?? {})),
  );
  router.get("/settings", async () => settings);
  router.get("/figures", async () => ({ pool: app().poolStats, replaceable: REPLACEABLE.length }));
  router.get(
    "/region",
    { params: { request: Request } },
    async ({ request }) => request.scope.extensions?.["tsgi.web"],
  );
  router.get("/visits/{name}", async ({ name }) => countVisit(store, name));
  router.get("/path/{tool_id}", async ({ tool_id }) => app().urlPathFor("findToolRoute", { tool_id }));
  router.get("/errors", async () => {
    logger.info({ codes: 2 }, "codes of errors were read");
    const codes = [refuseSetting("nothing", { code: "TSGI_UNKNOWN_LOOP" }), new RecursionError("a circle"), null];
    return codes.map((error) => codeOf(error) ?? null);
  });
  router.post("/reset", { params: { library }, statusCode: 204 }, async ({ library }) => library.reset());
  router.get(
    "/journal/{key}",
    { params: { count: t.Integer({ minimum: 1 }), library } },
    async ({ key, count, library }) => readJournal(library, key, count),
  );
  return router;
}

const readJournal = (from: Library, key: string, count: number) => from.notes(key, count);
