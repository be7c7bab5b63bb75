import { AppGenerator, type AppSettings } from "./app-generator.js";
import { runGenerator } from "./run-generator.js";

/**
 * Creates a project.
 *
 * @throws CommandError for errors that the user can correct, and after Ctrl-C in a question
 */
export async function createProject(options: AppSettings): Promise<void> {
  await runGenerator(AppGenerator, "tsgi:app", options);
}
