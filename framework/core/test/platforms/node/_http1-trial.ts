/** Properties for any bytes, tried with one text at a time. */
import * as fc from "../../../../test/support/fast-check.js";
import { DEFAULT_REQUEST_LIMITS } from "../../../src/platforms/node/header-section.js";
import type { Differential } from "./_http1-differential.js";
import { differenceOf, type Rule, ruleOf } from "./_http1-differences.js";
import { connections, inPieces } from "./_http1-mutations.js";
import { decodeInPieces, parseInPieces, parseWhole } from "./_http1-pieces.js";

/** Connections that are open at the same time. */
const WIDTH = 16;

/** A text for which something does not hold, and what. */
export class Failure {
  readonly text: string;
  readonly reason: string;

  constructor(text: string, reason: string) {
    this.text = text;
    this.reason = reason;
  }
}

/** The texts of one seed, always the same. */
export function textsOf(seed: number, count: number): string[] {
  return fc.sample(connections, { seed, numRuns: count });
}

/**
 * Tries texts, and returns the first failure in the shortest form that is found. `used` gets the rules that were
 * needed.
 */
export async function tryAll(
  both: Differential,
  texts: readonly string[],
  used: Map<Rule, number>,
): Promise<Failure | null> {
  for (let at = 0; at < texts.length; at += WIDTH) {
    const reasons = await Promise.all(texts.slice(at, at + WIDTH).map((text) => faultOf(both, text, used)));
    const index = reasons.findIndex((reason) => reason !== null);
    if (index !== -1) return shortest(both, texts[at + index] as string);
  }
  return null;
}

async function faultOf(both: Differential, text: string, used: Map<Rule, number>): Promise<string | null> {
  const cuts = [text.length >> 1, text.lastIndexOf("\r\n"), text.indexOf("\r\n\r\n") + 4, text.length - 1];
  const parts = inPieces(
    text,
    cuts.map((at) => Math.max(0, at)),
  );
  const [ours, ofParts, nodes] = await Promise.all([both.ours([text]), both.ours(parts), both.nodes(text)]);
  if (JSON.stringify(ours) !== JSON.stringify(ofParts)) {
    return `serve gives ${JSON.stringify(ours)}, and in the parts ${JSON.stringify(parts)} ${JSON.stringify(ofParts)}`;
  }
  const whole = JSON.stringify(parseWhole(text, DEFAULT_REQUEST_LIMITS));
  const inBytes = JSON.stringify(parseInPieces(text.split(""), DEFAULT_REQUEST_LIMITS));
  if (whole !== inBytes) return `parseHead gives ${whole}, and byte by byte ${inBytes}`;
  const body = text.slice(text.indexOf("\r\n\r\n") + 4);
  const decoded = JSON.stringify(decodeInPieces([body], DEFAULT_REQUEST_LIMITS));
  const decodedBytes = JSON.stringify(decodeInPieces(body.split(""), DEFAULT_REQUEST_LIMITS));
  if (decoded !== decodedBytes) return `ChunkedDecoder gives ${decoded}, and byte by byte ${decodedBytes}`;
  const difference = differenceOf(text, ours, nodes);
  if (difference === null) return null;
  const rule = ruleOf(difference);
  if (rule === null) return `serve gives ${JSON.stringify(ours)}, node:http ${JSON.stringify(nodes)}, by no rule`;
  used.set(rule, (used.get(rule) ?? 0) + 1);
  return null;
}

/** Removes parts that the failure does not need. */
async function shortest(both: Differential, text: string): Promise<Failure> {
  let short = text;
  for (let size = text.length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at + size <= short.length;) {
      const shorter = short.slice(0, at) + short.slice(at + size);
      if ((await faultOf(both, shorter, new Map())) === null) at += size;
      else short = shorter;
    }
  }
  return new Failure(short, (await faultOf(both, short, new Map())) ?? "it fails at times alone");
}
