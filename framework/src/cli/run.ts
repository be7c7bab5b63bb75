/** `tsgi run`: serves an application. @module */
import { serve } from "../node.js";
import { loadApp } from "./load-app.js";
import { loadEnvFile, type RunFlags, toServeOptions } from "./serve-options.js";

/** Serves until SIGTERM or SIGINT, which drain. */
export async function run(module: string | undefined, flags: RunFlags): Promise<void> {
  loadEnvFile(flags.envFile);
  const { app } = await loadApp(module);
  await serve(app, toServeOptions(flags));
}
