/** SHA-256 of text and bytes, for keys and tags. @module */
import { findModule } from "./platform.js";

/** Encodes bytes in the characters that a cookie, a key and a URL can have (RFC 4648 §5), without padding. */
export function toBase64URL(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * A digest of data that are received in chunks. With Node's module it takes 3 µs for a small text; the digest of the
 * platform is a task of another thread, which takes 25 µs, and needs all data at the end (Node 20).
 */
export class Digest {
  readonly #hash = findModule("node:crypto")?.createHash("sha256");
  readonly #chunks: (string | Uint8Array<ArrayBuffer>)[] = [];

  update(data: string | Uint8Array): this {
    if (this.#hash) this.#hash.update(data);
    else this.#chunks.push(typeof data === "string" ? data : new Uint8Array(data));
    return this;
  }

  /** The digest in base64url: 43 characters. */
  end(): Promise<string> | string {
    return this.#hash?.digest("base64url") ?? this.#endAsync();
  }

  async #endAsync(): Promise<string> {
    const whole = await new Blob(this.#chunks).arrayBuffer();
    return toBase64URL(new Uint8Array(await crypto.subtle.digest("SHA-256", whole)));
  }
}

/** The SHA-256 digest of text in base64url. */
export const sha256 = (text: string): Promise<string> | string => new Digest().update(text).end();
