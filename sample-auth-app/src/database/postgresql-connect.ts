import type { Client } from "pg";

import { ConnectError, describe, quoted } from "../connect-error.js";

/** Connects, or says which server has not let it in, and what to do. */
export async function connect(client: Client): Promise<void> {
  try {
    await client.connect();
  } catch (error) {
    throw connectErrorOf(client, error);
  }
}

function connectErrorOf({ host, port, user = "", database = "" }: Client, cause: unknown): ConnectError {
  const place = `-h ${quoted(host)} -p ${port}`;
  const server = {
    name: "PostgreSQL",
    host,
    port,
    variable: "DATABASE_URL",
    startCommand: process.platform === "darwin" ? "brew services start postgresql" : "sudo systemctl start postgresql",
    pingCommand: `pg_isready ${place}`,
  };
  // SQLSTATE (PostgreSQL, appendix A): what the server says of names and passwords that it does not know.
  const remedies: Readonly<Record<string, string>> = {
    "3D000": `Create the database with createdb ${place} -U ${quoted(user)} ${quoted(database)}, or correct DATABASE_URL`,
    "28000": `Create the role with createuser ${place} -U postgres --pwprompt ${quoted(user)}, or correct DATABASE_URL`,
    "28P01": `Set the password with psql ${place} -U postgres -c ${quoted(String.raw`\password ${user}`)}, or correct DATABASE_URL`,
    "53300": `It has no connection left: see who has them with psql ${place} -U postgres -c 'TABLE pg_stat_activity', or lower DATABASE_POOL_SIZE`,
  };
  // 28000 also says that pg_hba.conf lets nobody in from here, which no new role would change.
  const { code, message } = describe(cause);
  const isKnown = code !== "28000" || message.endsWith(" does not exist");
  return new ConnectError(server, cause, isKnown ? remedies[code] : undefined);
}
