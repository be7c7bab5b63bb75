/** The headers of a part of a multipart body. @module */
import { createRecord, decodeUTF8 } from "../../protocol/header-list.js";
import { isToken, parseMediaType, parseParameters, trimOWS } from "../../protocol/http-grammar.js";

/** The headers of a part. */
export interface PartHead {
  /** The name of the field. */
  readonly name: string;
  /** The name of the file, without directories and control characters; `null` for text. */
  readonly filename: string | null;
  /** As it was sent, `undefined` when it was not. */
  readonly contentType: string | undefined;
  /** No prototype, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Encodings that leave the bytes as they are. RFC 7578 §4.7 has done away with all others. */
const PLAIN_ENCODINGS = new Set([undefined, "7bit", "8bit", "binary"]);

/** Escapes that browsers write for the characters that would end a quoted name. WHATWG HTML, multipart form data. */
const ESCAPED = /%0A|%0D|%22/gi;

function unescapeName(text: string): string {
  return text.replaceAll(ESCAPED, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)));
}

/**
 * The last part of a path of any system, without control characters: a directory in a file name is ignored
 * (RFC 7578 §4.2), CR and LF would end a header line, and NUL a string in C.
 */
function baseName(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  const name = text.slice(Math.max(text.lastIndexOf("/"), text.lastIndexOf("\\")) + 1).replaceAll(/[\0-\x1F\x7F]/g, "");
  return name === "." || name === ".." ? "" : name;
}

/** The name of the file: `filename*` if it is readable (RFC 6266 §4.3), else `filename`; `null` if both are missing. */
function filenameOf(parameters: ReadonlyMap<string, string>): string | null {
  const extended = parameters.get("filename*");
  const decoded = extended === undefined ? null : decodeExtended(extended);
  const plain = parameters.get("filename");
  if (decoded === null && plain === undefined) return extended === undefined ? null : "";
  return baseName(decoded ?? unescapeName(plain ?? ""));
}

function parseLines(lines: readonly string[]): Record<string, string> | string {
  const headers = createRecord();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!isToken(name) || line.includes("\n") || line.includes("\0")) return "A header of a part is malformed";
    if (name in headers) return "A header of a part comes twice";
    headers[name] = trimOWS(line.slice(colon + 1));
  }
  return headers;
}

/** Reads the header lines of one part. Returns the problem with them, for the client, if they are malformed. */
export function parsePartHead(lines: readonly string[]): PartHead | string {
  const headers = parseLines(lines);
  if (typeof headers === "string") return headers;
  const disposition = headers["content-disposition"];
  if (disposition === undefined || parseMediaType(disposition) !== "form-data") {
    return "A part has no Content-Disposition: form-data";
  }
  const parameters = parseParameters(disposition);
  const name = parameters?.get("name");
  if (!parameters || name === undefined) return "The Content-Disposition of a part has no name, or is malformed";
  if (!PLAIN_ENCODINGS.has(headers["content-transfer-encoding"]?.toLowerCase())) {
    return "A part has a Content-Transfer-Encoding, which forms do not have";
  }
  return {
    name: unescapeName(name),
    filename: filenameOf(parameters),
    contentType: headers["content-type"] || undefined,
    headers,
  };
}

/** A value with its charset and percent-encoding, RFC 8187 §3.2; `null` if it is invalid. */
function decodeExtended(value: string): string | null {
  const [charset = "", , encoded = null] = value.split("'", 3);
  if (encoded === null || !/^(?:[!#$&+.^_`|~0-9A-Za-z-]|%[0-9A-Fa-f]{2})*$/.test(encoded)) return null;
  const latin1 = encoded.replaceAll(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  if (charset.toLowerCase() === "iso-8859-1") return latin1;
  if (charset.toLowerCase() !== "utf-8") return null;
  return decodeUTF8(Uint8Array.from(latin1, (char) => char.charCodeAt(0)));
}
