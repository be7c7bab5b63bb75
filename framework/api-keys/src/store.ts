/** The records of keys, and the interface of the stores that keep them. @module */
import type { App } from "tsgi";

/** A key as a store keeps it: without the key. */
export interface ApiKeyRecord {
  readonly id: string;
  /** Identifies the account that the key belongs to. */
  readonly owner: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** The SHA-256 of the key, in hexadecimal. */
  readonly hash: string;
  /** The last four characters of the random part, by which people recognize a key. */
  readonly hint: string;
  readonly createdAt: Date;
  /** The key is invalid from then on; `null` for never. */
  readonly expiresAt: Date | null;
  /** The last use, with the accuracy of a minute; `null` before the first. */
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** The key of a request, which is the value of the scheme. */
export type VerifiedApiKey = Pick<ApiKeyRecord, "id" | "owner" | "scopes" | "name">;

/** The properties of a record that change. */
export type ApiKeyChanges = Partial<Omit<ApiKeyRecord, "id">>;

/** Keeps records, such as rows of a table. */
export interface ApiKeyStore {
  add(record: ApiKeyRecord): Promise<void>;
  /** Returns `null` for an unknown id. */
  find(id: string): Promise<ApiKeyRecord | null>;
  /** The records of an owner, in any order. */
  list(owner: string): Promise<readonly ApiKeyRecord[]>;
  /** Changes these properties only, so that a time of use does not undo a revocation. */
  update(id: string, changes: ApiKeyChanges): Promise<void>;
  /** Opens the store with an application: `keys.attach(app)` calls it. */
  attach?(app: App): void;
}
