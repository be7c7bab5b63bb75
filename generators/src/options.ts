/** The names of the templates, the first of them the default. */
export const templateNames = ["auth"] as const;

/** The name of a template. */
export type TemplateName = (typeof templateNames)[number];

/** What the command line asks for; what is `undefined` is asked in a prompt or takes its default. */
export interface CommandOptions {
  /** The npm name of the project. */
  name?: string;
  template?: TemplateName;
  /** The folder in which the project's own folder is created. Default: the current one. */
  into?: string;
  install?: boolean;
  git?: boolean;
  yes: boolean;
  force: boolean;
  dryRun: boolean;
  help: boolean;
  version: boolean;
}

/** One flag: the command line, the help text and the hints about npm are all made from this. */
export interface Flag {
  /** As it is typed, without dashes. */
  name: string;
  short?: string;
  /** The placeholder of its value; a flag without one is a switch. */
  value?: string;
  choices?: readonly string[];
  /** The field of {@link CommandOptions} that it sets. */
  key: Exclude<keyof CommandOptions, "name">;
  /** What a switch sets. Default: `true`. */
  sets?: boolean;
  help: string;
}

/** Every flag of the command, in the order of the help text. */
export const flags: readonly Flag[] = [
  {
    name: "template",
    value: "name",
    choices: templateNames,
    key: "template",
    help: "what to start from: auth (OAuth2 password flow, Prisma, tests)",
  },
  { name: "into", value: "folder", key: "into", help: "create <folder>/<name> instead of ./<name>" },
  { name: "install", key: "install", help: "install the dependencies with npm (default)" },
  { name: "no-install", key: "install", sets: false, help: "do not" },
  { name: "git", key: "git", help: "make it a Git repository (default, unless it lies in one)" },
  { name: "no-git", key: "git", sets: false, help: "do not" },
  { name: "force", key: "force", help: "overwrite files that are in the way; nothing is ever deleted" },
  { name: "dry-run", key: "dryRun", help: "list the files and write nothing" },
  { name: "yes", short: "y", key: "yes", help: "ask nothing and take the defaults (as without a terminal, or in CI)" },
  { name: "help", short: "h", key: "help", help: "show this text" },
  { name: "version", short: "v", key: "version", help: "show the version" },
];
