/** Keys in the memory of this process. @module */
import type { ApiKeyRecord, ApiKeyStore } from "./store.js";

/** A caller must not change a record that is stored. */
const copy = (record: ApiKeyRecord): ApiKeyRecord => ({ ...record, scopes: [...record.scopes] });

/**
 * Keeps keys in memory, for tests and for a first try: they are lost when the process ends.
 *
 * @example
 * ```ts
 * import { ApiKeys, memoryKeys } from "@tsgi/api-keys";
 *
 * const keys = new ApiKeys({ store: memoryKeys() });
 * const { id } = await keys.create({ owner: "ada", name: "ci" });
 * console.log(await keys.revoke(id, "ada")); // true
 * ```
 */
export function memoryKeys(): ApiKeyStore {
  const records = new Map<string, ApiKeyRecord>();
  return {
    add: async (record) => void records.set(record.id, copy(record)),
    find: async (id) => {
      const record = records.get(id);
      return record ? copy(record) : null;
    },
    list: async (owner) => [...records.values()].filter((record) => record.owner === owner).map(copy),
    update: async (id, changes) => {
      const record = records.get(id);
      if (record) records.set(id, { ...record, ...changes });
    },
  };
}
