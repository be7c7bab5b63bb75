const hasBuffer = typeof Buffer === "function";

/** Zeroed bytes to write into: a `Buffer` where that global exists, as all bytes are that an application gets. */
export const createBytes: (length: number) => Uint8Array = hasBuffer
  ? (length) => Buffer.alloc(length)
  : (length) => new Uint8Array(length);

/** The same bytes, not copied, as a `Buffer` where that global exists. */
export const asBytes: (bytes: Uint8Array) => Uint8Array = hasBuffer
  ? (bytes) => (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  : (bytes) => bytes;
