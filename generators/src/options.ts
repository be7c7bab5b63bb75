/** The templates, the default first. */
export const templateNames = ["auth", "api", "minimal"] as const;

export type TemplateName = (typeof templateNames)[number];

/** The databases of projects. */
export const databases = ["sqlite", "postgresql", "none"] as const;

export type Database = (typeof databases)[number];

/** The runtimes of projects, the default first. */
export const runtimes = ["node", "bun", "deno", "workers"] as const;

export type Runtime = (typeof runtimes)[number];

/** The platforms of `--deploy`, the default first. */
export const deploys = ["none", "lambda", "vercel", "netlify", "cloudflare", "fly", "kubernetes"] as const;

export type Deploy = (typeof deploys)[number];

/** The optional parts of `--with`, in the order in which they are asked for. */
export const extraNames = [
  "jobs",
  "mail",
  "live",
  "mcp",
  "metrics",
  "tracing",
  "oidc",
  "redis",
  "page",
  "nginx",
] as const;

export type Extra = (typeof extraNames)[number];

/** The supported package managers. */
export const packageManagers = ["npm", "pnpm", "yarn"] as const;

export type PackageManager = (typeof packageManagers)[number];

/** The names of the sub-generators. */
export const subCommandNames = ["route", "router", "model", "dependency", "middleware", "websocket"] as const;

/** The values of the command line. `undefined` is asked in a prompt or takes its default. */
export interface CommandOptions {
  /** The npm name of the project. */
  name?: string;
  template?: TemplateName;
  database?: Database;
  runtime?: Runtime;
  deploy?: Deploy;
  extras?: readonly Extra[];
  /** False for a project of `auth` without the items. */
  items?: boolean;
  /** `--template api --login`, which is the template `auth`. */
  login?: boolean;
  docker?: boolean;
  loadTests?: boolean;
  ci?: boolean;
  packageManager?: PackageManager;
  /** The parent of the project's folder. Defaults to the current folder. */
  into?: string;
  install?: boolean;
  git?: boolean;
  yes: boolean;
  force: boolean;
  dryRun: boolean;
  json: boolean;
  help: boolean;
  version: boolean;
}

/** Each choice in one line, for the help text and the prompts. */
export const choiceLines = {
  template: {
    auth: "users, login with the OAuth2 password flow, Prisma (default)",
    api: "routers, typed client tests; with --database also Prisma and migrations",
    minimal: "one file, one route, one test",
  },
  database: {
    sqlite: "a file, for one server",
    postgresql: "a server, for several replicas",
    none: "no database",
  },
  runtime: {
    node: "Node (default)",
    bun: "Bun, without a database",
    deno: "Deno, without a database",
    workers: "Cloudflare Workers, without a database",
  },
  deploy: {
    none: "no files for a platform (default)",
    lambda: "AWS Lambda, without a database",
    vercel: "Vercel, without a database",
    netlify: "Netlify, without a database",
    cloudflare: "Cloudflare Workers, without a database; the same as --runtime workers",
    fly: "Fly.io, with the Dockerfile",
    kubernetes: "Kubernetes, with the Dockerfile",
  },
  extras: {
    jobs: "jobs in PostgreSQL, and the script worker; Node 22.12",
    mail: "a mail to each new user, sent by a job",
    live: "new items as server-sent events, search over a WebSocket",
    mcp: "routes as tools for agents, over the Model Context Protocol",
    metrics: "metrics for Prometheus at /metrics",
    tracing: "traces with OpenTelemetry",
    oidc: "login at an identity provider",
    redis: "several processes count wrong passwords together",
    page: "a web page at /",
    nginx: "nginx with TLS in compose.yaml",
  },
} as const satisfies {
  template: Record<TemplateName, string>;
  database: Record<Database, string>;
  runtime: Record<Runtime, string>;
  deploy: Record<Deploy, string>;
  extras: Record<Extra, string>;
};

function describeChoices(question: keyof typeof choiceLines): string {
  return Object.entries(choiceLines[question])
    .map(([name, line]) => `${name}: ${line}`)
    .join("\n");
}

/** One flag, for the parser, the help text and the hints about npm. */
export interface Flag<Key extends string = Exclude<keyof CommandOptions, "name">> {
  /** Its name without dashes. */
  name: string;
  short?: string;
  /** The placeholder of its value. A flag without one is a switch. */
  value?: string;
  choices?: readonly string[];
  /** The choices of a list, whose names are separated by commas. */
  several?: readonly string[];
  /** The field of {@link CommandOptions} that it sets. */
  key: Key;
  /** The value that a switch sets. Defaults to `true`. */
  sets?: boolean;
  help: string;
}

/** A switch and its opposite. */
function pair(name: string, key: Flag["key"], help: string): Flag[] {
  return [
    { name, key, help },
    { name: `no-${name}`, key, sets: false, help: "do not" },
  ];
}

/** Every flag of the command, in the order of the help text. */
export const flags: readonly Flag[] = [
  {
    name: "template",
    value: "name",
    choices: templateNames,
    key: "template",
    help: describeChoices("template"),
  },
  {
    name: "database",
    value: "name",
    choices: databases,
    key: "database",
    help: `${describeChoices("database")}\ndefault: sqlite for auth, "none" for api; minimal has no database`,
  },
  {
    name: "runtime",
    value: "name",
    choices: runtimes,
    key: "runtime",
    help: describeChoices("runtime"),
  },
  {
    name: "deploy",
    value: "name",
    choices: deploys,
    key: "deploy",
    help: describeChoices("deploy"),
  },
  {
    name: "with",
    value: "names",
    several: extraNames,
    key: "extras",
    help: `optional parts, separated by commas (default: no part); api has jobs, mcp, metrics, tracing and nginx, minimal has jobs\n${describeChoices("extras")}`,
  },
  ...pair("items", "items", "write the items of users, with the template auth (default)"),
  { name: "login", key: "login", help: "add accounts to --template api; the same as --template auth" },
  ...pair("docker", "docker", "write a Dockerfile and a compose.yaml (default)"),
  ...pair("load-tests", "loadTests", "write a load test (default)"),
  ...pair("ci", "ci", "write a workflow for GitHub Actions (default)"),
  {
    name: "package-manager",
    value: "name",
    choices: packageManagers,
    key: "packageManager",
    help: "npm, pnpm or yarn (default: the one that runs this); Bun and Deno install by themselves",
  },
  {
    name: "into",
    value: "folder",
    key: "into",
    help: "create <folder>/<name> instead of ./<name>, in tsgi's own repository ../<name>",
  },
  ...pair("install", "install", "install the dependencies (default)"),
  ...pair("git", "git", "create a Git repository with a first commit (default, unless the folder is already in one)"),
  { name: "force", key: "force", help: "overwrite existing files without deleting others" },
  { name: "dry-run", key: "dryRun", help: "list the files without writing them" },
  { name: "json", key: "json", help: "do not prompt, and print one JSON document for programs" },
  {
    name: "yes",
    short: "y",
    key: "yes",
    help: "do not prompt, and use the defaults (as without a terminal, or in CI)",
  },
  { name: "help", short: "h", key: "help", help: "show this text" },
  { name: "version", short: "v", key: "version", help: "show the version" },
];
