import type { SignedText } from "./signed-text.js";

/** Where a request's session lies in its state. A symbol, so that no name of an application's meets it. */
export const SESSION: unique symbol = Symbol("tsgi.session");

/** What a session holds: whatever JSON can. */
export type SessionData = Record<string, unknown>;

/** The data of one request's session, and what they were when it came. */
export class Session {
  wasRead = false;
  readonly #signed: SignedText;
  readonly #before: string;
  #data: SessionData;

  private constructor(before: string, signed: SignedText) {
    this.#before = before;
    this.#data = JSON.parse(before) as SessionData;
    this.#signed = signed;
  }

  /** Opens what a cookie holds; an empty session where that is nothing, was changed, or is too old. */
  static async open(cookie: string | undefined, signed: SignedText, maxAge: number): Promise<Session> {
    const text = cookie === undefined ? null : await signed.open(cookie);
    const [, issuedAt = "", data = "{}"] = /^(\d+) (.+)$/s.exec(text ?? "") ?? [];
    const isFresh = Number(issuedAt) + maxAge > Date.now() / 1000;
    return new Session(isFresh ? data : "{}", signed);
  }

  read(): SessionData {
    this.wasRead = true;
    return this.#data;
  }

  clear(): void {
    this.wasRead = true;
    this.#data = {};
  }

  /** The cookie's new value: `""` for none, `null` where nothing has changed. */
  async seal(): Promise<string | null> {
    const data = JSON.stringify(this.#data);
    if (data === this.#before) return null;
    return data === "{}" ? "" : this.#signed.seal(`${Math.floor(Date.now() / 1000)} ${data}`);
  }
}
