/** Bytes as the functions of Node's sockets take them. @module */

/** Bytes of any view as a `Buffer`, not copied. */
export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Decodes latin-1 bytes. */
export function toLatin1(bytes: Uint8Array): string {
  return toBuffer(bytes).toString("latin1");
}
