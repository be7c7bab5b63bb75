/** `@tsgi/broadcast`: messages and resumable streams over several machines. @module */
export { type Backplane, type BackplaneEvents } from "./backplane.js";
export { Broadcast, type BroadcastOptions } from "./broadcast.js";
export { postgresBackplane } from "./postgres-backplane.js";
export { redisBackplane } from "./redis-backplane.js";
export { SlowSubscriberError, type SubscribeOptions, Subscription } from "./subscription.js";
export { UnavailableError } from "./unavailable-error.js";
export { type StreamStatus } from "./log-store.js";
export { type ReadOptions, StreamLog, type StreamLogOptions, type StreamOwner } from "./stream-log.js";
export { type StreamEvent } from "./stream-cursor.js";
export { StreamFailedError } from "./stream-errors.js";
export { type Produce } from "./stream-producer.js";
