/** The application for `tsgi dev`. Nothing is opened or changed before it is served. */
import { createApp } from "./app.js";
import { ConfigError, loadConfig, weaknessOf } from "./config.js";
import { DatabaseError, prepareDatabase } from "./prepare.js";
import { DEMO_USER } from "./seed.js";

/** Says on one line what there is to mend, as `npm start` does, and ends: `tsgi dev` waits for the change. */
function fail(error: unknown): never {
  if (error instanceof ConfigError || error instanceof DatabaseError) {
    console.error(error.message);
    process.exit(1);
  }
  throw error;
}

function readConfig() {
  try {
    return loadConfig(process.env);
  } catch (error) {
    return fail(error);
  }
}

const config = readConfig();

export const app = createApp(config);

app.onStartup(async () => {
  const weakness = weaknessOf(config.secretKey);
  if (weakness !== null) {
    console.error(`Warning: ${weakness}`);
  }
  await prepareDatabase(config).catch(fail);
  if (config.environment === "development") {
    console.log(`Demo user: ${DEMO_USER.username}, password: ${DEMO_USER.password}`);
  }
});
