/** `Accept-Encoding`, RFC 9110 §12.5.3. @module */
import { isToken, parseList, trimOWS } from "../../protocol/http-grammar.js";

/** RFC 9110 §12.4.2 `weight`, as far as its digits. */
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/** The codings that a client accepts. */
export interface AcceptedCodings<Coding extends string> {
  /** The coding to use: the client's favourite, the earliest offered where it has none; `null` for none. */
  readonly coding: Coding | null;
  /** `true` where the client refuses a body without a coding. */
  readonly refusesIdentity: boolean;
}

/**
 * Chooses a content coding. A part of the header that is malformed counts as absent; a coding that is named twice has
 * the weight named last.
 *
 * @param header - `Accept-Encoding`; `undefined` when there is none: no coding is wanted.
 * @param offered - In the server's order of preference, in lower case.
 * @see RFC 9110 §12.5.3
 */
export function chooseCoding<Coding extends string>(
  header: string | undefined,
  offered: readonly Coding[],
): AcceptedCodings<Coding> {
  const weights = parseWeights(header ?? "");
  const others = weights.get("*");
  const identity = weights.get("identity") ?? (others === 0 ? 0 : undefined);
  let coding: Coding | null = null;
  let best = 0;
  for (const name of offered) {
    const weight = weights.get(name) ?? others ?? 0;
    if (weight > best) [coding, best] = [name, weight];
  }
  // Named with a higher weight it is what the client wants; not named it is only what it puts up with.
  if (identity !== undefined && identity > best) coding = null;
  return { coding, refusesIdentity: identity === 0 };
}

function parseWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of parseList(header)) {
    const end = part.indexOf(";");
    const name = trimOWS(end < 0 ? part : part.slice(0, end)).toLowerCase();
    const weight = end < 0 ? "1" : WEIGHT.exec(trimOWS(part.slice(end + 1)))?.[1];
    if (weight === undefined || !isToken(name)) continue;
    weights.set(name === "x-gzip" ? "gzip" : name, Number(weight));
  }
  return weights;
}
