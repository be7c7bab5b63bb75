import { once } from "node:events";
import type { AddressInfo } from "node:net";

import { SMTPServer } from "smtp-server";

/** A mail as the server received it. */
export interface ReceivedMail {
  from: string;
  to: string[];
  /** The header and the body. */
  source: string;
}

/** An SMTP server that keeps the mails that it receives. */
export interface MailCatcher extends AsyncDisposable {
  url: string;
  mails: readonly ReceivedMail[];
  /** Settles with the mails when there are so many. */
  received(count: number): Promise<readonly ReceivedMail[]>;
}

export async function startMailCatcher(): Promise<MailCatcher> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData: (stream, { envelope: { mailFrom, rcptTo } }, callback) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const from = mailFrom ? mailFrom.address : "";
        mails.push({ from, to: rcptTo.map(({ address }) => address), source: Buffer.concat(chunks).toString() });
        server.emit("mail");
        callback();
      });
    },
  });
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    received: async (count) => {
      while (mails.length < count) {
        await once(server, "mail");
      }
      return mails;
    },
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(resolve)),
  };
}
