import type { ExistingProject } from "../code/existing-project.js";
import type { Templates } from "../templates.js";

/** One file that a sub-generator writes: anew, where it is not there yet, or in the place of what is. */
export interface Change {
  /** Relative to the project, with `/` between the parts. */
  path: string;
  text: string;
  /** A new file that exists already stays as it is: the sub-generator has been here, and its user since. */
  isNew: boolean;
}

/** What a sub-generator has to say beside the files. */
export interface Outcome {
  changes: Change[];
  /** For the person at the terminal: what is there already, what to do next. */
  notes: string[];
}

/** What a sub-generator is given. */
export interface SubOptions {
  /** The words after its name. */
  parameters: readonly string[];
  /** The value of `--in`: the file to write into. */
  file?: string;
  templates: Templates;
}

/** Writes code into an existing project. */
export interface SubGenerator {
  /** How it is called, and with what: for help and messages. */
  usage: string;
  help: string;
  example: string;
  /** How many words it takes at least and at most. */
  parameters: readonly [least: number, most: number];
  /**
   * Works out what to write. Writes nothing.
   *
   * @throws UsageError for words that it cannot use; CommandError for a project that it cannot work on
   */
  plan(project: ExistingProject, options: SubOptions): Outcome;
}
