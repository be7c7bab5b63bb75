/** SHA-256 of text and bytes, for keys and tags. @module */
import { findModule } from "./platform.js";

/** Encodes bytes in the characters that a cookie, a key and a URL can have (RFC 4648 §5), without padding. */
export function toBase64URL(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * A digest of data that are received in chunks. With Node's module it takes 3 µs for a small text; the digest of the
 * platform is a task of another thread, which takes 25 µs, and needs all data at the end (Node 20).
 */
export class Digest {
  readonly #hash = findModule("node:crypto")?.createHash("sha256");
  readonly #chunks: Uint8Array[] = [];

  update(data: string | Uint8Array): this {
    if (this.#hash) this.#hash.update(data);
    else this.#chunks.push(typeof data === "string" ? new TextEncoder().encode(data) : data);
    return this;
  }

  /** The digest in base64url: 43 characters. */
  end(): Promise<string> | string {
    if (this.#hash) return this.#hash.digest("base64url");
    return crypto.subtle.digest("SHA-256", this.#whole()).then((digest) => toBase64URL(new Uint8Array(digest)));
  }

  #whole(): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(this.#chunks.reduce((length, chunk) => length + chunk.length, 0));
    let offset = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, offset);
      offset += chunk.length;
    }
    return whole;
  }
}

/** The SHA-256 digest of text in base64url. */
export const sha256 = (text: string): Promise<string> | string => new Digest().update(text).end();
