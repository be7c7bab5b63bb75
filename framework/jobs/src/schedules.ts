/** Schedules: pg-boss makes an occurrence at most once, and a worker turns it into a job. @module */
import type { Logger } from "tsgi";
import type { Envelope } from "./definition.js";
import { jobsError } from "./errors.js";
import { type Connection, OCCURRENCES, sendOptions } from "./store.js";

/** A schedule as the program declares it. */
export interface Schedule {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly job: string;
  readonly envelope: Envelope;
}

/** The most that an occurrence may be late, in milliseconds. */
const MAX_LATE_MS = 60_000;

/** An occurrence that no worker has taken in time is dropped, and deleted an hour later. */
const OCCURRENCE_OPTIONS = {
  retryLimit: 3,
  retryDelay: 1,
  expireInSeconds: 60,
  retentionSeconds: 3_600,
  deleteAfterSeconds: 3_600,
};

/** @throws ConfigurationError for a time zone that does not exist, or an expression that has no five or six fields. */
export function assertSchedule(name: string, cron: unknown, timezone: string): asserts cron is string {
  if (typeof cron !== "string" || !/^\s*\S+(?:\s+\S+){4,5}\s*$/.test(cron)) {
    throw jobsError("TSGI_INVALID_SCHEDULE", name, 'a cron expression has five fields, such as "0 3 * * *".');
  }
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone });
  } catch {
    throw jobsError("TSGI_INVALID_SCHEDULE", name, `the time zone ${JSON.stringify(timezone)} does not exist.`);
  }
}

/** Stores the schedules that are declared, and removes those that are not. @throws ConfigurationError for an invalid one. */
export async function storeSchedules({ boss }: Connection, declared: readonly Schedule[]): Promise<void> {
  await boss.createQueue(OCCURRENCES);
  for (const schedule of declared) {
    const { name, cron, timezone } = schedule;
    try {
      boss.previewSchedule(cron, { tz: timezone, count: 1 });
    } catch (error) {
      throw jobsError("TSGI_INVALID_SCHEDULE", name, error instanceof Error ? error.message : String(error));
    }
    await boss.schedule(OCCURRENCES, cron, { ...schedule }, { ...OCCURRENCE_OPTIONS, tz: timezone, key: name });
  }
  const names = new Set(declared.map(({ name }) => name));
  for (const { key } of await boss.getSchedules(OCCURRENCES)) {
    if (!names.has(key)) await boss.unschedule(OCCURRENCES, key);
  }
}

/** Turns occurrences into jobs from now on. An occurrence keeps its id, so that one that is handled twice is one job. */
export async function workOnOccurrences({ boss, db }: Connection, logger: Logger): Promise<void> {
  await boss.work<Schedule>(OCCURRENCES, { pollingIntervalSeconds: 1, batchSize: 50 }, async (occurrences) => {
    const { rows } = await db.executeSql("SELECT now() AS now");
    const [{ now } = { now: new Date() }] = rows as { now: Date }[];
    for (const { id, data } of occurrences) {
      const { name, job, cron, timezone, envelope } = data;
      const from = new Date(now.getTime() - MAX_LATE_MS);
      const [due] = boss.previewSchedule(cron, { tz: timezone, from, count: 1 });
      if (due === undefined || due > now) {
        logger.warn(
          { schedule: name },
          `An occurrence of the schedule ${name} is more than a minute late, and is left out.`,
        );
        continue;
      }
      await boss.send(job, envelope, { ...sendOptions(envelope, {}), id });
    }
  });
}
