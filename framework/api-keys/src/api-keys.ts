/** API keys: created, verified, rotated and revoked. @module */
import type { App } from "tsgi";
import { assertOptions, expecting, isObject, isToken, type OptionRules, SCHEME_OPTIONS, whole } from "tsgi/internals";
import { compareSecrets, type SchemeOptions, type SecurityScheme } from "tsgi/security";
import { createKey, hashOf, idOf, isId, patternOf } from "./key.js";
import { RecentUses } from "./recent-uses.js";
import { createScheme } from "./scheme.js";
import type { ApiKeyRecord, ApiKeyStore, VerifiedApiKey } from "./store.js";

/** The options of `ApiKeys`. */
export interface ApiKeysOptions<AutoError extends boolean = boolean> extends SchemeOptions<AutoError> {
  /** Keeps the keys: `prismaKeys(…)`, `memoryKeys()`, or your own. */
  store: ApiKeyStore;
  /** The beginning of each key, by which people and secret scanners recognize it. Defaults to `"sk"`. */
  prefix?: string;
  /** The header of the key. Defaults to `Authorization`, as `Bearer <key>`. In another header, the value is the key. */
  header?: string;
}

/** The options of `create`. */
export interface CreateApiKeyOptions {
  /** Identifies the account that the key belongs to. */
  owner: string;
  /** The scopes that the key grants. A key without scopes has no permissions. */
  scopes?: readonly string[];
  /** A name by which the owner recognizes the key. Defaults to `""`. */
  name?: string;
  /** The key is invalid from then on. Defaults to `null`, for never. */
  expiresAt?: Date | null;
}

/** The options of `rotate`. */
export interface RotateApiKeyOptions {
  /** Seconds for which the old key still works. Defaults to 0. */
  graceSeconds?: number;
  /** The new key is invalid from then on; `null` for never. Defaults to the lifetime of the old key, from now. */
  expiresAt?: Date | null;
}

/** A new key. */
export interface IssuedApiKey {
  readonly id: string;
  /** The key, which only its owner keeps. */
  readonly key: string;
}

/** A key as its owner sees it. */
export type ApiKeyInfo = Pick<
  ApiKeyRecord,
  "id" | "name" | "scopes" | "hint" | "createdAt" | "lastUsedAt" | "expiresAt"
>;

const matches = (pattern: RegExp) => (value: unknown) => typeof value === "string" && pattern.test(value);
const METHODS = ["add", "find", "list", "update"] as const;
const OPTIONS: OptionRules<ApiKeysOptions> = {
  ...SCHEME_OPTIONS,
  store: expecting("a store, such as memoryKeys()", (value) => {
    return isObject(value) && METHODS.every((name) => typeof (value as Partial<ApiKeyStore>)[name] === "function");
  }),
  prefix: expecting('1 to 32 letters, digits, "_" or "-"', matches(/^[\w-]{1,32}$/)),
  header: expecting("the name of a header", (value) => typeof value === "string" && isToken(value)),
};

/** More than a name needs, and less than an index of a database allows. */
const MAX_TEXT = 255;
const MAX_SCOPES = 100;
/** RFC 6749 §3.3: printable ASCII without space, `"` and `\`. */
const SCOPE = /^[!#-[\]-~]{1,255}$/;

const DATE = expecting("a Date, or null", (value) => {
  return value === null || (value instanceof Date && !Number.isNaN(value.getTime()));
});
/** PostgreSQL does not store a NUL. */
const isText = (value: unknown) => typeof value === "string" && value.length <= MAX_TEXT && !value.includes("\0");
const CREATE_OPTIONS: OptionRules<CreateApiKeyOptions> = {
  owner: expecting(`a string of 1 to ${MAX_TEXT} characters`, (value) => isText(value) && value !== ""),
  scopes: expecting(`at most ${MAX_SCOPES} scopes of printable ASCII without spaces`, (value) => {
    return Array.isArray(value) && value.length <= MAX_SCOPES && value.every(matches(SCOPE));
  }),
  name: expecting(`a string of at most ${MAX_TEXT} characters`, isText),
  expiresAt: DATE,
};
const ROTATE_OPTIONS: OptionRules<RotateApiKeyOptions> = { graceSeconds: whole(0, 2_147_483_647), expiresAt: DATE };

/**
 * API keys for programs that call your API. A store has the hash of each key only, so the key is shown once.
 *
 * @example
 * ```ts
 * import { App, Security } from "tsgi";
 * import { ApiKeys, memoryKeys } from "@tsgi/api-keys";
 *
 * const keys = new ApiKeys({ store: memoryKeys() });
 * const app = new App();
 * const key = Security(keys.scheme, { scopes: ["items:read"] });
 * app.get("/items", { params: { key } }, async ({ key }) => ({ owner: key.owner }));
 *
 * const created = await keys.create({ owner: "ada", scopes: ["items:read"] });
 * const headers = { authorization: `Bearer ${created.key}` };
 * const response = await app.fetch(new Request("http://localhost/items", { headers }));
 * console.log(await response.text()); // {"owner":"ada"}
 * ```
 */
export class ApiKeys<AutoError extends boolean = true> {
  /** The dependency that verifies the key of a request: `Depends(keys.scheme)`, or `Security(keys.scheme, { scopes })`. */
  readonly scheme: SecurityScheme<Promise<VerifiedApiKey>, AutoError>;
  readonly #store: ApiKeyStore;
  readonly #prefix: string;
  readonly #recentUses = new RecentUses();

  /** @throws ConfigurationError for an option that cannot work. */
  constructor(options: ApiKeysOptions<AutoError>) {
    assertOptions("new ApiKeys()", options, OPTIONS);
    const { store, prefix = "sk", header = "Authorization", ...scheme } = options;
    OPTIONS.store("new ApiKeys()", "store", store);
    this.#store = store;
    this.#prefix = prefix;
    const pattern = patternOf(prefix);
    this.scheme = createScheme(header, scheme, (key) => this.#verify(key, idOf(key, pattern)));
  }

  /** Opens the store with the application, if it is `prismaKeys` with the dependency of a database. */
  attach(app: App): void {
    this.#store.attach?.(app);
  }

  /**
   * Creates a key, and returns it for the only time.
   *
   * @throws ConfigurationError for an option that cannot work.
   */
  async create(options: CreateApiKeyOptions): Promise<IssuedApiKey> {
    assertOptions("ApiKeys.create()", options, CREATE_OPTIONS);
    CREATE_OPTIONS.owner("ApiKeys.create()", "owner", options.owner);
    const { owner, scopes = [], name = "", expiresAt = null } = options;
    const { key, ...parts } = createKey(this.#prefix);
    const times = { createdAt: new Date(), expiresAt, lastUsedAt: null, revokedAt: null };
    await this.#store.add({ ...parts, owner, name, scopes: [...new Set(scopes)], ...times });
    return { id: parts.id, key };
  }

  /** The keys of an owner that are not revoked, the oldest first. */
  async list(owner: string): Promise<ApiKeyInfo[]> {
    const records = await this.#store.list(owner);
    return records
      .filter(({ revokedAt }) => revokedAt === null)
      .toSorted((left, right) => left.createdAt.getTime() - right.createdAt.getTime())
      .map(({ id, name, scopes, hint, createdAt, lastUsedAt, expiresAt }) => {
        return { id, name, scopes, hint, createdAt, lastUsedAt, expiresAt };
      });
  }

  /** Ends a key, from the next request on. Returns `false` if the owner has no such key. */
  async revoke(id: string, owner: string): Promise<boolean> {
    const record = await this.#find(id, owner);
    if (record === null) return false;
    if (record.revokedAt === null) await this.#store.update(id, { revokedAt: new Date() });
    return true;
  }

  /**
   * Replaces a key by a new one with another id and the same owner, name and scopes. Returns `null` if the owner has no such
   * key, or it has ended.
   *
   * @throws ConfigurationError for an option that cannot work.
   */
  async rotate(id: string, owner: string, options: RotateApiKeyOptions = {}): Promise<IssuedApiKey | null> {
    assertOptions("ApiKeys.rotate()", options, ROTATE_OPTIONS);
    const record = await this.#find(id, owner);
    const now = Date.now();
    if (record === null || hasEnded(record, now)) return null;
    const { name, scopes, createdAt, expiresAt: end } = record;
    const renewed = end && new Date(now + end.getTime() - createdAt.getTime());
    const { graceSeconds = 0, expiresAt = renewed } = options;
    // The new key first: an error between the two must not leave the owner without a key.
    const issued = await this.create({ owner, name, scopes, expiresAt });
    const graceEnd = new Date(Math.min(now + graceSeconds * 1_000, end?.getTime() ?? Infinity));
    await this.#store.update(id, graceSeconds === 0 ? { revokedAt: new Date(now) } : { expiresAt: graceEnd });
    return issued;
  }

  async #find(id: string, owner: string): Promise<ApiKeyRecord | null> {
    const record = isId(id) ? await this.#store.find(id) : null;
    return record?.owner === owner ? record : null;
  }

  /** Returns `null` for a key that is not valid. The response does not state why. */
  async #verify(key: string, id: string | null): Promise<VerifiedApiKey | null> {
    const record = id === null ? null : await this.#store.find(id);
    if (record === null || !compareSecrets(hashOf(key), record.hash) || hasEnded(record, Date.now())) return null;
    this.#noteUse(record.id);
    return { id: record.id, owner: record.owner, scopes: record.scopes, name: record.name };
  }

  /** Writes the time of use. The request does not wait for it, and an error does not matter: a later use writes it again. */
  #noteUse(id: string): void {
    const now = Date.now();
    if (!this.#recentUses.add(id, now)) return;
    const write = async () => this.#store.update(id, { lastUsedAt: new Date(now) });
    write().catch(() => {});
  }
}

function hasEnded({ revokedAt, expiresAt }: ApiKeyRecord, now: number): boolean {
  return revokedAt !== null || (expiresAt !== null && expiresAt.getTime() <= now);
}
