/** All allowed differences between the WebSocket of `serve` and that of `ws`. @module */
import { isDeepStrictEqual } from "node:util";
import { constants, type InflateRaw, inflateRawSync } from "node:zlib";
import type { Outcome } from "./_websocket-peers.js";

/** Two outcomes of the same bytes that are not alike. */
export interface Difference {
  readonly bytes: Buffer;
  readonly ours: Outcome;
  readonly theirs: Outcome;
}

/** A difference that is intended. */
export interface Rule {
  readonly name: string;
  readonly allows: (difference: Difference) => boolean;
}

/** A compressed message. The last fragments may be missing. */
interface CompressedMessage {
  readonly isFragmented: boolean;
  readonly fragments: Buffer[];
}

/** The compressed messages up to the first frame that is not whole. */
function compressedMessagesOf(bytes: Buffer): CompressedMessage[] {
  const messages: CompressedMessage[] = [];
  let fragments: Buffer[] | null = null;
  for (let at = 0; at + 6 <= bytes.length;) {
    const [first, short] = [bytes.readUInt8(at), bytes.readUInt8(at + 1) & 0x7f];
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    const maskAt = at + 2 + lengthBytes;
    if (maskAt + 4 > bytes.length) break;
    const length =
      lengthBytes === 0 ? short : bytes.readUIntBE(maskAt - Math.min(lengthBytes, 6), Math.min(lengthBytes, 6));
    at = maskAt + 4 + length;
    if (at > bytes.length) break;
    const payload = bytes.subarray(maskAt + 4, at).map((byte, index) => byte ^ bytes.readUInt8(maskAt + (index % 4)));
    if ((first & 8) !== 0) continue;
    if ((first & 15) !== 0) fragments = (first & 0x40) === 0 ? null : [];
    if (fragments?.length === 0) messages.push({ isFragmented: (first & 0x80) === 0, fragments });
    fragments?.push(Buffer.from(payload));
  }
  return messages;
}

/** `true` if DEFLATE blocks follow a final one. */
function hasSecondStream({ fragments }: CompressedMessage): boolean {
  const bytes = Buffer.concat([...fragments, Buffer.from("0000ffff", "hex")]);
  try {
    const options = { finishFlush: constants.Z_SYNC_FLUSH, info: true };
    const { engine } = inflateRawSync(bytes, options) as unknown as { engine: InflateRaw };
    return engine.bytesWritten < bytes.length - 4;
  } catch {
    return false;
  }
}

const isPrefix = (short: readonly string[], long: readonly string[]) =>
  short.every((item, index) => item === long[index]);

export const rules: readonly Rule[] = [
  {
    // ws decompresses each fragment when it is received, and `serve` a message after its last one.
    name: "errors of compressed fragments",
    allows: ({ bytes, ours, theirs }) =>
      /^(?:1007|1009) /.test(theirs.sent ?? "") &&
      isPrefix(theirs.messages, ours.messages) &&
      isPrefix(theirs.pongs, ours.pongs) &&
      compressedMessagesOf(bytes).some(({ isFragmented }) => isFragmented),
  },
  {
    // ws counts decompressed bytes before it meets the error; `serve` sees only the error. Both refuse the message.
    name: "a compressed message too long and malformed",
    allows: ({ bytes, ours, theirs }) =>
      ours.sent?.startsWith("1007 ") === true &&
      theirs.sent?.startsWith("1009 ") === true &&
      isDeepStrictEqual({ ...ours, sent: null }, { ...theirs, sent: null }) &&
      compressedMessagesOf(bytes).length > 0,
  },
  {
    // RFC 7692 §7.2.1 allows them; ws drops them.
    name: "blocks after a final one",
    allows: ({ bytes }) => compressedMessagesOf(bytes).some(hasSecondStream),
  },
];

/** The rule that allows a difference, or `null`. */
export function ruleOf(difference: Difference): Rule | null {
  return rules.find((rule) => rule.allows(difference)) ?? null;
}
