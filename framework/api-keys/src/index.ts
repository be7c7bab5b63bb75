/** `@tsgi/api-keys`: keys for programs that call your API. @module */
export {
  type ApiKeyInfo,
  ApiKeys,
  type ApiKeysOptions,
  type CreateApiKeyOptions,
  type IssuedApiKey,
  type RotateApiKeyOptions,
} from "./api-keys.js";
export { memoryKeys } from "./memory-keys.js";
export { prismaKeys, type RawClient } from "./prisma-keys.js";
export type { ApiKeyChanges, ApiKeyRecord, ApiKeyStore, VerifiedApiKey } from "./store.js";
