/** The tool library, put together. It needs no module of Node and runs on every runtime. @module */
import {
  App,
  type AppOptions,
  Header,
  type HandlerPoolOptions,
  type Instrumentation,
  type Limits,
  type LifespanFunction,
  type LifespanHook,
  type Logger,
  type ShedOptions,
} from "tsgi";
import { health, type HealthOptions } from "tsgi/health";
import type { Store } from "tsgi/middleware";
import { compareSecrets } from "tsgi/security";
import { appHandlers, translate } from "./errors.js";
import { addSwitches, createIntrospection } from "./introspection.js";
import { appMiddleware, secured } from "./middleware.js";
import { Loan, Problem } from "./models.js";
import { mountAll } from "./mounts.js";
import { addWebhooks } from "./release.js";
import { createAccount, type VerifyPassword } from "./routes/account.js";
import { createLocker } from "./routes/locker.js";
import { createBackRoom, createYard } from "./routes/backroom.js";
import * as feeds from "./routes/feeds.js";
import * as kiosk from "./routes/kiosk.js";
import * as loans from "./routes/loans.js";
import * as photos from "./routes/photos.js";
import * as reports from "./routes/reports.js";
import * as rooms from "./routes/rooms.js";
import * as tools from "./routes/tools.js";
import { readSettings } from "./settings.js";

/** The parts that differ between programs. */
export interface Parts {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly logger?: Logger;
  readonly instrumentation?: readonly Instrumentation[];
  readonly verify?: VerifyPassword;
  readonly entry?: string;
  /** Counts of logins, for all machines together. */
  readonly counts?: Store;
  /** Routes that only some platforms can have. */
  readonly more?: readonly Parameters<App["includeRouter"]>[0][];
  /** Only Node measures the delay of its event loop. */
  readonly shed?: ShedOptions;
}

/** An environment that is complete, for development. */
export const DEVELOPMENT = {
  TOOLS_SESSION_SECRET: "a secret of development, 32 bytes",
  TOOLS_DESK_KEY: "desk-key-of-development",
};

const open: LifespanFunction<App> = async function* (app) {
  app.state["opened"] = "by the lifespan";
  yield { opened: "by the lifespan" };
  app.state["opened"] = "closed";
};

const unlock: LifespanHook<App> = (app) => {
  app.state["locked"] = false;
  return () => void (app.state["locked"] = true);
};

const limits: Partial<Limits> = {
  bodyBytes: 4096,
  uploadBytes: 16_384,
  formParts: 20,
  jsonDepth: 10,
  webSocketMessageBytes: 1024,
};

/** Compares passwords, for runtimes without a library that hashes them. */
const comparePassword: VerifyPassword = async (name, password) => compareSecrets(password, `password-of-${name}`);

export function createApp({
  env = DEVELOPMENT,
  logger,
  instrumentation = [],
  verify = comparePassword,
  entry,
  counts,
  more = [],
  shed,
}: Parts = {}) {
  const settings = readSettings(env);
  const pool: HandlerPoolOptions = { kind: settings.poolKind, size: 1 };
  const options: AppOptions = {
    title: settings.title,
    version: "1.0.0",
    description: "Lends **tools**.",
    openapiVersion: settings.openapiVersion,
    scalarUrl: "/scalar",
    servers: [{ url: "https://tools.example", description: "The library" }],
    tags: [{ name: "tools", description: "What there is to borrow." }],
    license: { name: "MIT", url: "https://spdx.org/licenses/MIT.html" },
    lifespan: open,
    limits,
    pool,
    middleware: appMiddleware(settings),
    exceptionHandlers: appHandlers,
    translate,
    responses: { "5XX": { description: "The library is to blame.", schema: Problem } },
    instrumentation,
    ...(logger && { logger }),
    ...(entry !== undefined && { entry }),
    ...(shed && { shed }),
  };
  const app = new App(options);
  const account = createAccount(settings, verify, counts);
  app.onStartup(unlock);
  app.onShutdown((stopped) => void (stopped.state["stopped"] = true));
  for (const routes of [tools, loans, photos, feeds, reports, rooms, kiosk, account, createLocker(), ...more]) {
    app.includeRouter(routes, { prefix: "/v1" });
  }
  app.includeRouter(createBackRoom(settings), { prefix: "/v1" });
  app.includeRouter(createYard(), { prefix: "/v1" });
  const healthOptions: HealthOptions = { checks: { locks: () => app.state["locked"] === false }, timeoutMs: 1000 };
  app.includeRouter(health(healthOptions), { prefix: "/health" });
  app.includeRouter(
    createIntrospection(() => app, settings, logger ?? console),
    { prefix: "/admin" },
  );
  addSwitches(app);
  app.get("/secured", { middleware: [secured], includeInSchema: false }, async () => "over https");
  app.get("/", { summary: "Where everything is" }, async () => ({ tools: app.urlPathFor("listTools") }));
  app.webhooks.post("loan.overdue", {
    tags: ["loans"],
    description: "Sent to partners each morning.",
    params: { loan: Loan, signature: Header() },
    statusCode: 204,
  });
  addWebhooks(app.webhooks);
  mountAll(app);
  return { app, account };
}
