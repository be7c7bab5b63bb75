import type { ExistingProject } from "../code/existing-project.js";
import type { Values } from "../placeholders.js";

/** One file that a sub-generator creates or replaces. */
export interface Change {
  /** Relative to the project, with `/` between the parts. */
  path: string;
  text: string;
  /** True for a new file. An existing one is kept: its user may have changed it. */
  isNew: boolean;
}

/** The result of a sub-generator. */
export interface Outcome {
  changes: Change[];
  /** Messages for the user: existing code, next steps. */
  notes: string[];
}

/** The options of a sub-generator. */
export interface SubOptions {
  /** The arguments after its name. */
  parameters: readonly string[];
  /** The value of `--in`: the file to change. */
  file?: string;
  /** The text of a file of `code/`, with its placeholders filled. */
  readCode: (name: string, values: Values) => string;
}

/** A generator for existing projects. */
export interface SubGenerator {
  /** Its usage, for help and messages. */
  usage: string;
  help: string;
  example: string;
  /** The least and the largest number of arguments. */
  parameters: readonly [least: number, most: number];
  /**
   * Plans the files. Does not write files.
   *
   * @throws UsageError for invalid arguments; CommandError for an unsuitable project
   */
  plan(project: ExistingProject, options: SubOptions): Outcome;
}
