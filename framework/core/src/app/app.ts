/** The App of Node, Bun and Deno. @module */
import { hasFiles, hasWorkers } from "../common/platform.js";
import { pageFiles } from "../openapi/page-files.js";
import { workerHost } from "../platforms/concurrency/self.js";
import type { ResponseDocs } from "../parameters/annotation.js";
import { Application, type AppOptions } from "./application.js";
import { InlineHandlerPool } from "./inline-pool.js";
import { keepPathTest } from "./known-paths.js";
import { EventLoopShedder } from "./load-shedder.js";
import type { AppParts } from "./parts.js";
import { createState, WorkerHandlerPool } from "./pool.js";

const PARTS: AppParts = {
  workerHost,
  createState,
  createPool: (settings) => (hasWorkers() ? new WorkerHandlerPool(settings) : new InlineHandlerPool(settings)),
  createShedder: (options, logger) => new EventLoopShedder(options, logger),
  keepPathTest,
  get pageFiles() {
    return hasFiles() ? pageFiles : null;
  },
};

/**
 * An application: routes, dependencies, middleware and hooks, and an ASGI callable that serves them.
 *
 * @example
 * ```ts
 * import { App, t } from "tsgi";
 *
 * export const app = new App({ title: "Items" });
 * app.get(
 *   "/items/{item_id}",
 *   { params: { item_id: t.Integer(), version: t.Integer({ default: 1 }) } },
 *   async ({ item_id, version }) => ({ item_id, version }),
 * );
 * ```
 */
export class App<Responses extends ResponseDocs = {}> extends Application<Responses> {
  /** @throws ConfigurationError for an unknown option, or one that cannot work. */
  constructor(options: AppOptions<Responses> = {}) {
    super(options, PARTS);
  }
}
