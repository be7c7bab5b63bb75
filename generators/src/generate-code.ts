import { CodeGenerator, type CodeSettings } from "./code-generator.js";
import { runGenerator } from "./run-generator.js";

/**
 * Runs a sub-generator.
 *
 * @throws CommandError for errors that the user can correct, and after Ctrl-C in a question
 */
export async function generateCode(options: CodeSettings): Promise<void> {
  await runGenerator(CodeGenerator, "tsgi:code", options);
}
