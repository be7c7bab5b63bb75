import type { Answers } from "./answers.js";
import type { FileAction } from "./plan.js";

/** What a run of the generator has done, or would do, for a program to read: the document of `--json`. */
export interface Report {
  /** Absolute. */
  folder: string;
  answers: Answers;
  dryRun: boolean;
  files: readonly { path: string; action: FileAction }[];
  /** Whether the folder was made a Git repository. */
  git: boolean;
  installed: boolean;
  /** Commands to type next, one after the other. */
  next: readonly string[];
  /** A request that works while the project serves. */
  example: string;
}
