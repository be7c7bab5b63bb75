/** `Accept-Encoding`, RFC 9110 §12.5.3. @module */
import { isToken, parseWeighted } from "../../protocol/http-grammar.js";

/** The codings that a client accepts. */
export interface AcceptedCodings<Coding extends string> {
  /**
   * The coding to use: the client's favorite, or the earliest offered one if it has no favorite; `null` for no coding.
   */
  readonly coding: Coding | null;
  /** `true` where the client refuses a body without a coding. */
  readonly refusesIdentity: boolean;
}

/**
 * Chooses a content coding. A part of the header that is malformed counts as absent; a coding that is named twice has
 * the weight named last.
 *
 * @param header - `Accept-Encoding`; `undefined` if it is absent, which means no coding.
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
  // If the client lists it with a higher weight, it prefers it; if the client does not list it, it only accepts it.
  if (identity !== undefined && identity > best) coding = null;
  return { coding, refusesIdentity: identity === 0 };
}

function parseWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const [member, weight] of parseWeighted(header)) {
    const name = member.toLowerCase();
    if (isToken(name)) weights.set(name === "x-gzip" ? "gzip" : name, weight);
  }
  return weights;
}
