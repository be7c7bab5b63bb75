/** The end of a comparison with a peer. @module */
import type { Limits } from "./pairs/measure.js";

/** Of each row: the interval of fewer launches depends on a single one. */
export const LAUNCHES = 4;

/** The distance of an interval from its ratio, as a factor. */
const NARROW = 1.05;

/** True for a row of enough launches whose interval is within ±5 %. */
export const isSettled: Limits["isSettled"] = ({ low, high, ratios }) =>
  ratios.length >= LAUNCHES && high / low <= NARROW ** 2;
