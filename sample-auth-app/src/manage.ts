import { Accounts } from "./accounts.js";
import { ConfigError, loadConfig } from "./config.js";
import { openDatabase } from "./database.js";
import { DatabaseError, prepareDatabase } from "./prepare.js";
import { Passwords } from "./security/passwords.js";
import { Throttle } from "./security/throttle.js";

const USAGE = "usage: npm run users -- disable NAME | enable NAME";

/** Disables or enables a user from the terminal, also while the server runs. Gives the line to print. */
async function manage(command: string | undefined, username: string | undefined): Promise<string> {
  if (username === undefined || (command !== "disable" && command !== "enable")) {
    throw new UsageError(USAGE);
  }
  const config = loadConfig(process.env);
  await prepareDatabase(config);
  const db = await openDatabase(config.database);
  try {
    const accounts = new Accounts(db, new Passwords(config.passwordHashCost), new Throttle());
    if (!(await accounts.setDisabled(username, command === "disable"))) {
      throw new UsageError(`there is no user ${JSON.stringify(username)}`);
    }
  } finally {
    await db.$disconnect();
  }
  return command === "disable" ? `${username} is disabled, all sessions have ended` : `${username} is enabled`;
}

class UsageError extends Error {}

try {
  const [command, username] = process.argv.slice(2);
  console.log(await manage(command, username));
} catch (error) {
  if (!(error instanceof UsageError || error instanceof ConfigError || error instanceof DatabaseError)) {
    throw error;
  }
  console.error(error.message);
  process.exitCode = 1;
}
