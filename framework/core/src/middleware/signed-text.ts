/** Text that travels through a client: signed, so that a change is noticed. @module */
import { toBase64URL } from "../common/digest.js";
import { encodeLatin1 } from "../protocol/bytes.js";
import { encodeUTF8 } from "../protocol/header-list.js";

const ALGORITHM = { name: "HMAC", hash: "SHA-256" } as const;

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Text that is sent to a client, and accepted back only if it is unchanged. */
export class SignedText {
  readonly #purpose: string;
  readonly #secrets: readonly string[];
  #keys: Promise<Key[]> | null = null;

  /**
   * @param purpose - Signed with the text, so that a text that is signed for one purpose is invalid for another.
   * @param secrets - The first signs, all verify.
   */
  constructor(purpose: string, secrets: readonly string[]) {
    this.#purpose = purpose;
    this.#secrets = secrets;
  }

  /** Gives the text with its signature, in characters that a cookie can have. */
  async seal(text: string): Promise<string> {
    const [key] = await this.#load();
    const body = toBase64URL(encodeUTF8(text));
    const signature = await crypto.subtle.sign(ALGORITHM, key as Key, this.#signed(body));
    return `${body}.${toBase64URL(new Uint8Array(signature))}`;
  }

  /** Returns the text that was sealed; `null` for any other string. */
  async open(sealed: string): Promise<string | null> {
    const match = /^([\w-]+)\.([\w-]{43})$/.exec(sealed);
    if (match === null) return null;
    const [, body = "", signature = ""] = match;
    for (const key of await this.#load()) {
      // `verify` compares in constant time.
      const isGood = await crypto.subtle.verify(ALGORITHM, key, fromBase64URL(signature), this.#signed(body));
      if (isGood) return new TextDecoder().decode(fromBase64URL(body));
    }
    return null;
  }

  #signed(body: string): Uint8Array<ArrayBuffer> {
    return new TextEncoder().encode(`${this.#purpose}\n${body}`);
  }

  #load(): Promise<Key[]> {
    return (this.#keys ??= Promise.all(
      this.#secrets.map((secret) =>
        crypto.subtle.importKey("raw", new TextEncoder().encode(secret), ALGORITHM, false, ["sign", "verify"]),
      ),
    ));
  }
}

/** @throws when the text is too short by a character, which no signed one is. */
function fromBase64URL(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(encodeLatin1(atob(text.replaceAll("-", "+").replaceAll("_", "/"))));
}
