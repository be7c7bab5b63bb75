/** The parts that all servers of this section share. @module */
import { readFileSync } from "node:fs";

export { LARGE, SMALL } from "../../../load-tests/dist/payloads/items.js";

const { TLS_KEY, TLS_CERT } = process.env;

/** The key and the certificate for HTTPS; `undefined` for HTTP. */
export const tls = TLS_KEY && TLS_CERT ? { key: readFileSync(TLS_KEY), cert: readFileSync(TLS_CERT) } : undefined;
export const scheme = tls ? "https" : "http";

/** The least limit of a body that takes the upload. */
export const BODY_LIMIT = 2 ** 21;

/** Reads a stream part by part, and keeps nothing of it. */
export async function countBytes(stream) {
  let bytes = 0;
  for await (const part of stream) bytes += part.length;
  return bytes;
}
