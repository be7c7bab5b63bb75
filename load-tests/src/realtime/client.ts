/**
 * Plays one scene with a server from this process and prints the report.
 *
 * `node dist/realtime/client.js LOAD`, where LOAD is a {@link RealtimeLoad} as JSON.
 *
 * @module
 */
import { printReport } from "../report.js";
import type { RealtimeLoad } from "./load.js";
import { MEASURES } from "./scenes.js";

/** A scene that is not done by then waits for a message that does not come. */
const MAX_MS = 60_000;

const load = JSON.parse(process.argv[2] ?? "{}") as RealtimeLoad;
setTimeout(() => end({ rows: [], faults: [`${load.scene}: messages are missing`] }), MAX_MS);
try {
  end({ rows: [await MEASURES[load.scene](load)], faults: [] });
} catch (error) {
  end({ rows: [], faults: [`${load.scene}: ${error instanceof Error ? error.message : String(error)}`] });
}

/** The connections are open still. */
function end(report: Parameters<typeof printReport>[0]): void {
  printReport(report);
  process.exit();
}
