/** The App of platforms of the web. @module */
import { missingModule } from "../common/runtime.js";
import type { ResponseDocs } from "../parameters/annotation.js";
import { Application, type AppOptions } from "./application.js";
import { InlineHandlerPool } from "./inline-pool.js";
import type { AppParts } from "./parts.js";

/** Without processes and files. The clock of a platform may stop while code runs. */
const PARTS: AppParts = {
  workerHost: () => null,
  createState: () => ({}),
  createPool: (settings) => new InlineHandlerPool(settings),
  createShedder: () => {
    throw missingModule("node:perf_hooks", "new App({ shed })");
  },
  pageFiles: null,
};

/** An application. Its non-async handlers run inline, and its documentation pages only link to the document. */
export class App<Responses extends ResponseDocs = {}> extends Application<Responses> {
  /** @throws ConfigurationError for an unknown option, or one that cannot work. */
  constructor(options: AppOptions<Responses> = {}) {
    super(options, PARTS);
  }
}
