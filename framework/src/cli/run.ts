/** `tsgi run`: serves an application. @module */
import { ConfigurationError } from "../exceptions.js";
import { serve } from "../node.js";
import { CommandError, EXIT } from "./errors.js";
import { loadServedApp } from "./load-app.js";
import { type RunFlags, toServeOptions } from "./serve-options.js";

/** Serves until SIGTERM or SIGINT, which drain. @throws CommandError when a flag is at fault. */
export async function run(module: string | undefined, flags: RunFlags): Promise<void> {
  const options = toServeOptions(flags);
  const { app } = await loadServedApp(module);
  await serve(app, options).catch((error: unknown) => {
    throw error instanceof ConfigurationError ? new CommandError(error.code, error.message, EXIT.usage) : error;
  });
}
