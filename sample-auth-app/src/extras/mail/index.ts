import { createTransport } from "nodemailer";
import { Depends, t, withParams } from "tsgi";

import { settings } from "../../config.js";
import { database, type Transaction } from "../../database.js";
import { logger } from "../../logging.js";
import { jobs } from "../jobs/index.js";

export { jobs };

/** A mail to one person. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
  /** The same for each attempt, so that a mail system can recognize a repeated one. */
  messageId: string;
}

/** Sends mail by the server at `SMTP_URL`. Without one, mail is logged. */
export const openMailer = withParams(
  { settings, logger },
  async function* openMailer({ settings: { smtpUrl, mailFrom }, logger }) {
    if (smtpUrl === undefined) {
      logger.warn({}, "SMTP_URL is not set: mail is written to this log, not sent");
      yield async (mail: Mail) => logger.info({ mail }, "mail");
      return;
    }
    const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };
    const transport = createTransport({ url: smtpUrl, ...timeouts });
    yield async (mail: Mail) => void (await transport.sendMail({ from: mailFrom, ...mail }));
    transport.close();
  },
);

export const mailer = Depends(openMailer, { scope: "app" });

const welcomeMail = jobs.define(
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

/** Welcomes a new user. The mail is enqueued in the transaction that adds the user. */
export const welcome = Depends(async () => async (userId: number, tx: Transaction) => {
  await welcomeMail.enqueue({ userId }, { tx });
});
