/** Frames of the server: RFC 6455 §5.2, each a whole message without a mask. @module */
import { isASCII } from "../../../protocol/bytes.js";
import { toBuffer, toLatin1 } from "../bytes.js";

const FINAL = 0x80;
/** RFC 7692 §6, together with an opcode. */
export const COMPRESSED = 0x40;
/** The longest payload whose length is in the second byte of its frame. */
const MAX_SHORT = 125;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

/** The head of a frame, a character for each byte. */
export function toHead(opcode: number, length: number): string {
  if (length <= MAX_SHORT) return String.fromCharCode(FINAL | opcode, length);
  const low = String.fromCharCode((length >> 8) & 255, length & 255);
  if (length <= 0xffff) return String.fromCharCode(FINAL | opcode, LENGTH_16) + low;
  const high = Math.floor(length / 2 ** 32);
  const middle = String.fromCharCode((length >>> 24) & 255, (length >>> 16) & 255);
  return String.fromCharCode(FINAL | opcode, LENGTH_64, 0, 0, high >> 8, high & 255) + middle + low;
}

/** A whole frame, a character for each byte. */
export function toFrame(opcode: number, data: string | Uint8Array): string {
  const payload = typeof data === "string" && isASCII(data) ? data : toLatin1(toBytes(data));
  return toHead(opcode, payload.length) + payload;
}

/** The bytes of a payload; arrays are not copied. */
export function toBytes(data: string | Uint8Array): Buffer {
  return typeof data === "string" ? Buffer.from(data) : toBuffer(data);
}
