/** Writes the matrix of `docs/conformance.md` from a run: `npm run conformance -w framework`. */
import { writePage } from "./_matrix.js";

await writePage();
