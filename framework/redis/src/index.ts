/** `@tsgi/redis`: state that several machines share. @module */
export { openRedisStore, type OpenRedisStoreOptions, type OpenedRedisStore } from "./open-redis-store.js";
export { type RedisClient, redisStore, type RedisStoreOptions } from "./redis-store.js";
