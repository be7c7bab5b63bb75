import type { Answers } from "./answers.js";
import type { FileAction } from "./plan.js";

/** The document of `--json`: the changes made, or planned with `--dry-run`. */
export interface Report {
  /** Absolute path of the project. */
  folder: string;
  answers: Answers;
  dryRun: boolean;
  files: readonly { path: string; action: FileAction }[];
  /** True if the folder was made a Git repository. */
  git: boolean;
  installed: boolean;
  /** Commands to type next, in order. */
  next: readonly string[];
  /** An example request, for a running project. */
  example: string;
}
