import { setDisabled } from "./accounts.js";
import { readSettings } from "./config.js";
import { connect } from "./database.js";

/** Disables or enables a user from the terminal, even while the server runs. */
async function manage(command = "", username = ""): Promise<string> {
  if (username === "" || (command !== "disable" && command !== "enable")) {
    throw new Error("usage: npm run users -- disable NAME | enable NAME");
  }
  const db = await connect(readSettings().databaseUrl);
  try {
    if (!(await setDisabled(db, username, command === "disable"))) {
      throw new Error(`unknown user ${JSON.stringify(username)}`);
    }
  } finally {
    await db.$disconnect();
  }
  return command === "disable" ? `${username} is disabled, all sessions have ended` : `${username} is enabled`;
}

manage(...process.argv.slice(2)).then(console.log, (error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
