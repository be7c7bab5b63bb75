/**
 * Measures one router in this process and prints the report.
 *
 * `node dist/routing/worker.js MODULE [LOOKUPS] [WARM_UP]`: MODULE is the router's path or URL.
 *
 * @module
 */
import { toModuleURL } from "../paths.js";
import { printReport } from "../report.js";
import { loadRouter } from "./contender.js";
import { measureRouter } from "./measure.js";
import { LOOKUPS, ROUTES } from "./routes.js";

const [module = "", count = "500000", warmUp = "500"] = process.argv.slice(2);

printReport(measureRouter(await loadRouter(toModuleURL(module), ROUTES), LOOKUPS, Number(count), Number(warmUp)));
