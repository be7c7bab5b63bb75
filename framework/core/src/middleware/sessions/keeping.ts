/** Keeps the data of sessions between two requests: in the cookie itself, or in a store. @module */
import type { HTTPScope, WebSocketScope } from "../../protocol/asgi.js";
import { sha256, toBase64URL } from "../../common/digest.js";
import { isObject } from "../../common/options.js";
import { replaceText, type Store, StoreLog } from "../stores.js";
import { encodeLatin1 } from "../../protocol/bytes.js";
import { encodeUTF8 } from "../../protocol/header-list.js";

/** A session as the cookie of a request led to it. */
export interface Found {
  /** The id, if the store has an entry for it. */
  readonly id: string | null;
  /** JSON text of its data. */
  readonly text: string;
  readonly data: SessionData;
}

/** The content of a session: any JSON. */
export type SessionData = Record<string, unknown>;

/** A session at the start of the response. */
export interface Left {
  readonly text: string;
  /** If the session must get a new id: with the data of before, or for data that have been set since it was cleared. */
  readonly newId: "renewed" | "cleared" | null;
}

/** Keeps sessions between requests. */
export interface Keeping {
  find(scope: HTTPScope | WebSocketScope, cookie: string | undefined): Promise<Found>;
  /** Stores the changes. Returns the new value of the cookie: `""` to remove it, `null` to leave it as it is. */
  keep(scope: HTTPScope, found: Found, left: Left): Promise<string | null>;
}

/** The text of a session without data. */
const EMPTY = "{}";

/** A session by its text; an empty one for text that is not data of a session. */
function foundOf(id: string | null, text: string | null): Found {
  const data = text === null ? null : parseData(text);
  return text === null || data === null ? { id: null, text: EMPTY, data: {} } : { id, text, data };
}

/** `null` if another program has written the entry. */
function parseData(text: string): SessionData | null {
  try {
    const data: unknown = JSON.parse(text);
    return isObject(data) ? { ...data } : null;
  } catch {
    return null;
  }
}

/** Keeps the data in the cookie, signed. One that was changed or is too old is an empty session. */
export function inCookie(name: string, secrets: readonly string[], maxAge: number): Keeping {
  const signed = new SignedText(name, secrets);
  return {
    async find(_, cookie) {
      const text = cookie === undefined ? null : await signed.open(cookie);
      const [, issuedAt = "", data = EMPTY] = /^(\d+) (.+)$/s.exec(text ?? "") ?? [];
      return foundOf(null, Number(issuedAt) + maxAge > Date.now() / 1000 ? data : null);
    },
    async keep(_, found, { text }) {
      if (text === found.text) return null;
      return text === EMPTY ? "" : signed.seal(`${Math.floor(Date.now() / 1000)} ${text}`);
    },
  };
}

/** The values that one request has set: they do not belong to a session that has ended meanwhile. */
function changesOf(before: string, after: string): string {
  const known = parseData(before) ?? {};
  const isNew = ([name, value]: [string, unknown]) => JSON.stringify(known[name]) !== JSON.stringify(value);
  return JSON.stringify(Object.fromEntries(Object.entries(parseData(after) ?? {}).filter(isNew)));
}

/** OWASP asks for 64 bits of entropy at least (Session Management, Session ID Entropy). */
const ID_BYTES = 32;
const ID = /^[\w-]{43}$/;

/** Keeps the data in a store. The cookie has an id, which only this function makes. */
export function inStore(name: string, store: Store, maxAge: number): Keeping {
  const log = new StoreLog({
    of: "the sessions",
    effect: "requests that need it get 503",
    back: "requests have their sessions again",
  });
  /** Attack: an id from the store, its backup or its replica would log an attacker in. */
  const keyOf = async (id: string): Promise<string> => `session:${name}:${await sha256(id)}`;
  const create = async (text: string): Promise<string> => {
    const id = toBase64URL(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
    await store.set(await keyOf(id), text, maxAge);
    return id;
  };
  /** Gives the data of a session a new id. Of one that has ended meanwhile, only what this request has set is kept. */
  const renew = async (key: string, before: string, text: string): Promise<string | null> => {
    const next = await create(text);
    if (await replaceText(store, key, EMPTY, maxAge)) {
      await store.delete(key);
      return next;
    }
    await store.delete(await keyOf(next));
    const own = changesOf(before, text);
    return own === EMPTY ? null : create(own);
  };
  const change = async ({ id, text: before }: Found, { text, newId }: Left): Promise<string | null> => {
    if (text === before && newId === null) return null;
    if (id === null) return text === EMPTY ? null : create(text);
    const key = await keyOf(id);
    // A request that is slower than the logout of its session does not bring it back. It does not change the cookie:
    // the browser may already have the cookie of a renewed session.
    if (text !== EMPTY && newId === null) return (await replaceText(store, key, text, maxAge)) ? id : null;
    if (text !== EMPTY && newId === "renewed") return renew(key, before, text);
    const next = text === EMPTY ? "" : await create(text);
    await store.delete(key);
    return next;
  };
  return {
    async find(scope, cookie) {
      // Attack, fixation: an id that the store does not know never becomes the id of a session.
      if (cookie === undefined || !ID.test(cookie)) return foundOf(null, null);
      return foundOf(
        cookie,
        await log.watch(
          scope,
          keyOf(cookie).then((key) => store.get(key)),
        ),
      );
    },
    keep: (scope, found, left) => log.watch(scope, change(found, left)),
  };
}

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
