/**
 * Measures one section of the build that it lies beside, in slices: `node dist/compare/slice-worker.js SECTION`, with a channel.
 *
 * @module
 */
import { serveSlices } from "./slice-process.js";
import { toSection } from "./sections.js";

const PREPARE = {
  direct: () => import("./direct-rows.js"),
  routing: () => import("./routing-rows.js"),
  http: () => import("./http-rows.js"),
};

const { prepare } = await PREPARE[toSection(process.argv[2] ?? "")]();
serveSlices(await prepare());
