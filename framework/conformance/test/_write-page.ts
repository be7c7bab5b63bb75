/**
 * Writes the matrix of `docs/conformance.md` from a run: `npm run conformance --prefix framework`. With TSGI_SLOW=1 it runs the
 * servers on uWebSockets.js, Bun and Deno as well, and records their columns.
 */
import { writeFileSync } from "node:fs";
import { IS_SLOW } from "../../test/support/on-demand.js";
import { RECORD, writePage } from "./_matrix.js";
import { runRuntimes } from "./_runtimes.js";

if (IS_SLOW) writeFileSync(RECORD, JSON.stringify(await runRuntimes(), null, 2));
await writePage();
