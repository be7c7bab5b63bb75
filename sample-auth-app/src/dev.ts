/** The application for `tsgi dev`. Nothing is opened or changed before it is served. */
import { createApp } from "./app.js";
import { loadConfig, weaknessOf } from "./config.js";
import { prepareDatabase } from "./prepare.js";
import { DEMO_USER } from "./seed.js";

const config = loadConfig(process.env);

export const app = createApp(config);

app.onStartup(async () => {
  const weakness = weaknessOf(config.secretKey);
  if (weakness !== null) {
    console.error(`Warning: ${weakness}`);
  }
  await prepareDatabase(config);
  if (config.environment === "development") {
    console.log(`Demo user: ${DEMO_USER.username}, password: ${DEMO_USER.password}`);
  }
});
