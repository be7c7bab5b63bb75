/** `@tsgi/jobs`: work that must not be lost. @module */
export {
  controlOf,
  type EventDeclaration,
  type EventRecord,
  type JobRecord,
  type JobsCheck,
  type JobsControl,
  type JobsDatabase,
  type JobsFinding,
  type JobState,
  type ScheduleRecord,
  type SQLClient,
  type Worker,
} from "./control.js";
export type { JobEvent } from "./event.js";
export { type Job, Jobs } from "./jobs.js";
export type {
  EnqueueOptions,
  EventOptions,
  JobArgs,
  JobOptions,
  JobsOptions,
  JobsRouterOptions,
  PayloadInput,
  PublishOptions,
  ScheduleOptions,
  SubscribeOptions,
  WorkOptions,
} from "./options.js";
export { InvalidPayloadError } from "./payload.js";
export { DeadJobError, RetryJobError } from "./run-errors.js";
