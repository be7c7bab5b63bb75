/** `Accept-Language`, RFC 9110 §12.5.4. @module */
import { parseList, trimOWS } from "../../protocol/http-grammar.js";

/** RFC 9110 §12.4.2 `weight`, without the digits after the third. */
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/** RFC 4647 §2.1 `language-range`, without `*`. */
const TAG = /^[a-z]{1,8}(?:-[a-z\d]{1,8})*$/i;

/** More tags than these are ignored: the list is passed on for every validation error. */
const MAX_LANGUAGES = 20;

/**
 * The language tags of a header, the preferred one first. Tags of the same weight keep their order. `*`, tags with the
 * weight 0, and malformed parts are left out.
 */
export function acceptedLanguages(header: string | undefined): readonly string[] {
  const weighted = parseList(header ?? "").flatMap((part) => {
    const [tag = "", weight = "q=1", ...others] = part.split(";").map(trimOWS);
    const q = others.length > 0 ? Number.NaN : Number(WEIGHT.exec(weight)?.[1]);
    return TAG.test(tag) && q > 0 ? [{ tag, q }] : [];
  });
  return weighted
    .slice(0, MAX_LANGUAGES)
    .toSorted((left, right) => right.q - left.q)
    .map(({ tag }) => tag);
}
