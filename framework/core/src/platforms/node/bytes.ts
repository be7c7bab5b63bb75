/** Bytes as the functions of Node's sockets take them. @module */

/** Bytes as a `Buffer`, not copied, whatever view they are in. */
export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Decodes latin-1 bytes. */
export function toLatin1(bytes: Uint8Array): string {
  return toBuffer(bytes).toString("latin1");
}
