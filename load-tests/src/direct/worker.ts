/**
 * Measures one contender in this process and prints the report.
 *
 * `node dist/direct/worker.js MODULE [REQUESTS] [WARM_UP] [EXAMPLE]`: MODULE is the contender's path or URL, EXAMPLE the name
 * of the only route to measure.
 *
 * @module
 */
import { EXAMPLES } from "../examples.js";
import { toModuleURL } from "../paths.js";
import { printReport } from "../report.js";
import { loadContender } from "./contender.js";
import { measureContender } from "./measure.js";

const [module = "", requests = "50000", warmUp = "500", only] = process.argv.slice(2);

const contender = await loadContender(toModuleURL(module));
printReport(
  await measureContender(
    contender,
    EXAMPLES.filter(({ name }) => only === undefined || name === only),
    { requests: Number(requests), warmUp: Number(warmUp) },
  ),
);
// A framework may keep the process running with a timer.
process.exit();
