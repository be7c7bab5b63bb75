import { ConfigurationError } from "tsgi";
import { Jobs } from "@tsgi/jobs";

import { readSettings, type Settings } from "../../config.js";
import { database } from "../../database.js";
import { log } from "../../logging.js";
import { removeExpired } from "../../security/refresh-tokens.js";

/**
 * On PostgreSQL, jobs are stored in the database and run by the worker. On SQLite, and on a Node.js that is too old for
 * pg-boss, they run in this process, which the log reports.
 */
function openJobs({ databaseUrl: url }: Settings): Jobs {
  try {
    return new Jobs({ logger: log, ...(url.startsWith("file:") ? { inline: true } : { url }) });
  } catch (error) {
    if (!(error instanceof ConfigurationError) || error.code !== "TSGI_JOBS_NODE_VERSION") {
      throw error;
    }
    log.warn({}, error.message);
    return new Jobs({ inline: true, logger: log });
  }
}

export const jobs = openJobs(readSettings());

/** Removes the sessions whose refresh tokens have expired. */
export const removeExpiredSessions = jobs.define(
  "remove-expired-sessions",
  { params: { db: database } },
  async ({ db }) => log.info({ count: await removeExpired(db) }, "expired sessions removed"),
);

jobs.schedule("remove-expired-sessions", "17 * * * *", removeExpiredSessions, undefined);
