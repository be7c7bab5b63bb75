/**
 * Measures one router in this process and prints the report.
 *
 * `node dist/routing/worker.js MODULE [LOOKUPS] [WARM_UP]`
 *
 * @module
 */
import { printReport } from "../report.js";
import { loadRouter } from "./contender.js";
import { measureRouter } from "./measure.js";
import { LOOKUPS, ROUTES } from "./routes.js";

const [module = "", count = "500000", warmUp = "500"] = process.argv.slice(2);

printReport(measureRouter(await loadRouter(module, ROUTES), LOOKUPS, Number(count), Number(warmUp)));
