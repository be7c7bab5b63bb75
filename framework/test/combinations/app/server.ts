/** The program: serves the library. Settings come from the environment, the port is any that is free. @module */
import { serve, type RunningServer, type ServeOptions } from "tsgi/node";
import { createNodeApp } from "./node.js";
import { DEVELOPMENT } from "./app.js";

const env: NodeJS.ProcessEnv = { ...DEVELOPMENT, ...process.env };
const { app } = createNodeApp({ env, assets: env["TOOLS_ASSETS"] ?? new URL("./assets", import.meta.url) });
const options: ServeOptions = {
  port: 0,
  workers: Number(env["TOOLS_WORKERS"] ?? 1),
  http2: env["TOOLS_HTTP2"] === "yes",
  webSocketCompression: true,
};

async function main(): Promise<void> {
  const server: RunningServer = await serve(app, options);
  console.log(`Serving at ${server.url} on ${server.loop}`);
}

void main();
