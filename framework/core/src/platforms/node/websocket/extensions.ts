/** The header `Sec-WebSocket-Extensions`. @module */
import { parseList, TCHAR } from "../../../protocol/http-grammar.js";

/** An extension that a client offers. */
export interface ExtensionOffer {
  readonly name: string;
  /** In their order; a parameter without a value has `null`. */
  readonly parameters: readonly (readonly [name: string, value: string | null])[];
}

const NAME = new RegExp(`[${TCHAR}]+`, "y");
/** A quoted value is a token too, each of its characters escaped or not. Nothing in it can match in two ways. */
const PARAMETER = new RegExp(
  `[ \\t]*;[ \\t]*([${TCHAR}]+)(?:[ \\t]*=[ \\t]*(?:([${TCHAR}]+)|"((?:\\\\?[${TCHAR}])+)"))?`,
  "y",
);

/** The offers of a header; `null` if it is malformed. @see RFC 6455 §9.1 */
export function parseExtensions(text: string): ExtensionOffer[] | null {
  const offers: ExtensionOffer[] = [];
  for (const member of parseList(text)) {
    const offer = parseOffer(member);
    if (offer === null) return null;
    offers.push(offer);
  }
  return offers.length === 0 ? null : offers;
}

function parseOffer(text: string): ExtensionOffer | null {
  NAME.lastIndex = 0;
  const name = NAME.exec(text)?.[0];
  if (name === undefined) return null;
  const parameters: [string, string | null][] = [];
  let end = name.length;
  while (end < text.length) {
    PARAMETER.lastIndex = end;
    const match = PARAMETER.exec(text);
    if (match === null) return null;
    const [, parameter = "", token, quoted] = match;
    parameters.push([parameter, token ?? quoted?.replaceAll("\\", "") ?? null]);
    end = PARAMETER.lastIndex;
  }
  return { name, parameters };
}
