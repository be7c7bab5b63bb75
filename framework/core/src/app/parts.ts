/** The parts of an App that depend on its platform. @module */
import type { Logger } from "../common/logger.js";
import type { PageFiles } from "../openapi/page.js";
import type { WorkerHost } from "../platforms/concurrency/host.js";
import type { ASGIApp } from "../protocol/asgi.js";
import type { KnownPages, KnownRoutes } from "./known-paths.js";
import type { HandlerPool, HandlerPoolSettings } from "./pool-rules.js";
import type { LoadShedder, ShedOptions } from "./shed-options.js";

/** The parts of an App that need processes, files or the clock of an event loop. */
export interface AppParts {
  /** The worker of a pool in which the App is made; `null` where it serves. */
  workerHost(): WorkerHost | null;
  /** Makes `app.state`. */
  createState(): Record<string, unknown>;
  /** Makes the pool of non-async handlers. @throws ConfigurationError if an option is invalid. */
  createPool(settings: HandlerPoolSettings): HandlerPool;
  /** Makes what rejects requests. @throws ConfigurationError where the delay of the event loop cannot be measured. */
  createShedder(options: ShedOptions, logger: Logger): LoadShedder;
  /** Lets a server of another framework test the paths of an App; absent on a platform without such servers. */
  keepPathTest?(app: ASGIApp, routes: KnownRoutes, pages: KnownPages): void;
  /** The files of the documentation pages; `null` on a platform without files. */
  readonly pageFiles: PageFiles | null;
}
