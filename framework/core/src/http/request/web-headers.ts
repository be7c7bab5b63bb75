/** Headers of the platform, and the latin-1 text of each byte in which this framework has them. @module */
import { decodeLatin1, encodeLatin1 } from "../../protocol/bytes.js";
import { decodeUTF8, encodeUTF8 } from "../../protocol/header-list.js";

const isASCII = (text: string): boolean => !/[^\0-\x7f]/.test(text);

let isText: boolean | null = null;

/**
 * `true` where values of the platform's headers are text, as on workerd, which decodes them as UTF-8. Elsewhere each
 * character is a byte: Fetch §2.2.2.
 */
function areText(): boolean {
  if (isText === null) {
    try {
      isText = new Headers([["a", "\u{2603}"]]).has("a");
    } catch {
      isText = false;
    }
  }
  return isText;
}

/** Names and values in turn, as {@link HeaderList.raw} has them. */
export function fromWebHeaders(headers: Headers): string[] {
  const raw: string[] = [];
  headers.forEach((value, name) =>
    raw.push(name, isASCII(value) || !areText() ? value : decodeLatin1(encodeUTF8(value))),
  );
  return raw;
}

/**
 * The platform's headers of names and values in turn.
 *
 * @throws TypeError for a name or a value that HTTP does not allow.
 */
export function toWebHeaders(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const value = raw[index + 1] as string;
    headers.append(raw[index] as string, isASCII(value) || !areText() ? value : textOf(value));
  }
  return headers;
}

function textOf(value: string): string {
  return decodeUTF8(encodeLatin1(value)) ?? value;
}
