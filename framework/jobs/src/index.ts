/** `@tsgi/jobs`: work that must not be lost. @module */
export type { JobRecord, JobsControl, JobState, ScheduleRecord, Worker } from "./control.js";
export { InvalidPayloadError } from "./definition.js";
export { type Job, Jobs } from "./jobs.js";
export type {
  EnqueueOptions,
  JobArgs,
  JobOptions,
  JobsOptions,
  PayloadInput,
  ScheduleOptions,
  WorkOptions,
} from "./options.js";
