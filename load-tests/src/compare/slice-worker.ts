/**
 * Measures one section of the build next to it, in slices: `node dist/compare/slice-worker.js SECTION`, with a channel.
 *
 * @module
 */
import { ROWS, toSection } from "./sections.js";
import { serveSlices } from "./slice-process.js";

const { prepare } = await ROWS[toSection(process.argv[2] ?? "")]();
serveSlices(await prepare());
