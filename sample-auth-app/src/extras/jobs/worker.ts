import { jobs } from "../mail/index.js"; // with mail
// without mail: import { jobs } from "./index.js";

/** Runs the jobs that the replicas enqueue, until SIGINT or SIGTERM. */
const worker = await jobs.work();
console.log("The worker is ready, Ctrl-C stops it");
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void worker.stop());
}
