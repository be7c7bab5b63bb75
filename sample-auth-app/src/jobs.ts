import { ConfigurationError, t } from "tsgi";
import { Jobs } from "@tsgi/jobs";

import { readSettings, type Settings } from "./config.js";
import { database } from "./database.js";
import { log } from "./logging.js";
import { mailer } from "./mail.js";
import { removeExpired } from "./security/refresh-tokens.js";

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

/** Welcomes a new user. It is enqueued in the transaction that adds the user. */
export const welcomeMail = jobs.define(
  "welcome-mail",
  { payload: t.Object({ userId: t.Integer() }), params: { db: database, send: mailer } },
  async ({ payload, db, send }) => {
    const user = await db.user.findUnique({ where: { id: payload.userId } });
    if (user !== null) {
      const text = `Welcome, ${user.username}. You can log in now.`;
      const messageId = `<welcome-${user.id}@localhost>`;
      await send({ to: user.email, subject: "Welcome", text, messageId });
    }
  },
);

export const removeExpiredSessions = jobs.define(
  "remove-expired-sessions",
  { params: { db: database } },
  async ({ db }) => log.info({ count: await removeExpired(db) }, "expired sessions removed"),
);

jobs.schedule("remove-expired-sessions", "17 * * * *", removeExpiredSessions, undefined);
