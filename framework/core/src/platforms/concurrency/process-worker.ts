/** The program of a worker process. @module */
import { openProcessPort } from "./process-port.js";
import { runWorker } from "./worker.js";

runWorker(openProcessPort());
