/**
 * Calls a module in slices: `node dist/pairs/slice-worker.js direct|routing MODULE`, with a channel. MODULE is its URL.
 *
 * @module
 */
import { serveSlices } from "./slice-process.js";

const [section, module = ""] = process.argv.slice(2);
const { prepare } = await (section === "routing" ? import("./routing-rows.js") : import("./direct-rows.js"));
serveSlices(await prepare(module));
