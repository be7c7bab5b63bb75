import { decodeUTF8 } from "../datastructures.js";

/** A value with its charset and percent-encoding, RFC 8187 §3.2; `null` when it is none. */
export function decodeExtended(value: string): string | null {
  const [charset = "", , encoded = null] = value.split("'", 3);
  if (encoded === null || !/^(?:[!#$&+.^_`|~0-9A-Za-z-]|%[0-9A-Fa-f]{2})*$/.test(encoded)) return null;
  const latin1 = encoded.replaceAll(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  if (charset.toLowerCase() === "iso-8859-1") return latin1;
  if (charset.toLowerCase() !== "utf-8") return null;
  return decodeUTF8(Uint8Array.from(latin1, (char) => char.charCodeAt(0)));
}
