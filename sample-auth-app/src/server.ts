import { serve } from "tsgi/node";
import { SettingsError } from "tsgi/settings";

import { readSettings } from "./config.js";
import { connect } from "./database.js";
import { readProvider } from "./extras/oidc/settings.js"; // with oidc
import { log } from "./logging.js";
import { DEMO_USER } from "./seed.js";

/** Serves, and says on stdout where; SIGINT and SIGTERM end it with status 0. */
async function start(): Promise<void> {
  const { host, port, trustedProxies, clientAddressHeader, nodeEnv, databaseUrl } = readSettings();
  const db = await connect(databaseUrl); // before everything else, so that its error is one line
  await db.$disconnect();
  const logger = { ...log, info: () => {} }; // its message is the line below
  const { createApp } = await import("./app.js"); // reads the provider, whose errors are reported below
  const options = { host, port, trustedProxies, clientAddressHeader, logger };
  const { url } = await serve(createApp(log), options);
  console.log(`Ready on ${url}, documentation on ${url}/docs, Ctrl-C stops it`);
  const hasPasswords = readProvider() === null; // with oidc
  // without oidc: const hasPasswords = true;
  if (nodeEnv === "development" && hasPasswords) {
    console.log(`Try: curl -d 'username=${DEMO_USER.username}&password=${DEMO_USER.password}' ${url}/auth/token`);
  }
}

start().catch((error: unknown) => {
  const lines =
    error instanceof SettingsError ? error.faults.map((fault) => `${fault.variable}: ${fault.message}`) : [error];
  lines.forEach((line) => console.error(line instanceof Error ? line.message : line));
  process.exitCode = 1;
});
