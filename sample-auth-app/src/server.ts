import { ConfigurationError } from "tsgi";
import { serve, ServerStartError } from "tsgi/node";

import { createApp } from "./app.js";
import { ConfigError, loadConfig, weaknessOf } from "./config.js";
import { createLog } from "./logging.js";
import { DatabaseError, prepareDatabase } from "./prepare.js";
import { DEMO_USER } from "./seed.js";

/** Prepares the database, serves, and says on stdout where; SIGINT and SIGTERM end it with status 0. */
async function start(): Promise<void> {
  const config = loadConfig(process.env);
  const weakness = weaknessOf(config.secretKey);
  if (weakness !== null) {
    console.error(`Warning: ${weakness}`);
  }
  await prepareDatabase(config);
  const log = createLog();
  const { url } = await serve(createApp(config, log), {
    host: config.host,
    port: config.port,
    trustedProxies: config.trustedProxies,
    logger: { ...log, info: () => {} }, // what it would say is the line below
  });
  console.log(`Ready on ${url}, documentation on ${url}/docs, Ctrl-C stops it`);
  if (config.environment === "development") {
    const { username, password } = DEMO_USER;
    console.log(`Demo user: ${username}, password: ${password}`);
    console.log(`Try: curl -d 'username=${username}&password=${password}' ${url}/auth/token`);
  }
}

try {
  await start();
} catch (error) {
  if (
    !(
      error instanceof ConfigError ||
      error instanceof ConfigurationError || // what `serve` says of TRUSTED_PROXIES
      error instanceof DatabaseError ||
      error instanceof ServerStartError
    )
  ) {
    throw error;
  }
  const hint =
    error instanceof ServerStartError && error.code === "EADDRINUSE" ? " PORT sets it, as in PORT=8001." : "";
  console.error(`${error.message}${hint}`);
  process.exitCode = 1;
}
