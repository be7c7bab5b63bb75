/** The program of a worker process. @module */
import { openProcessPort } from "./ports.js";
import { runWorker } from "./worker.js";

runWorker(openProcessPort());
