import { AppGenerator, type AppSettings } from "./app-generator.js";
import { runGenerator } from "./run-generator.js";

/**
 * Makes a new project.
 *
 * @throws CommandError for everything that a person can put right, and after Ctrl-C in a question
 */
export async function createProject(options: AppSettings): Promise<void> {
  await runGenerator(AppGenerator, "tsgi:app", options);
}
