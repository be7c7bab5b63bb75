import { partsOfProcesses, runsProcesses, titleOf } from "./deploys.js";
import { type Deploy, type Extra, extraNames, type Runtime, type TemplateName } from "./options.js";
import { profileOf } from "./runtimes.js";

/** The choices that optional parts depend on. */
interface Chosen {
  template?: TemplateName;
  runtime?: Runtime;
  deploy?: Deploy;
  docker?: boolean;
  items?: boolean;
  extras?: readonly Extra[];
}

/** An optional part of a project. */
interface ExtraRules {
  templates: readonly TemplateName[];
  /** The requirement that other templates do not meet. */
  needs: string;
  /** Its packages, in addition to the packages of tsgi that its code imports. */
  dependencies: readonly string[];
  devDependencies?: readonly string[];
  /** True if it is about the items. */
  showsItems?: boolean;
}

const accounts = { templates: ["auth"], needs: "accounts" } as const;
const anyApp = { templates: ["auth", "api"], needs: "an application of several files" } as const;

/** The oldest Node on which pg-boss runs. */
const NODE_OF_JOBS = [22, 12] as const;

export const extras: Readonly<Record<Extra, ExtraRules>> = {
  jobs: { templates: ["auth", "api", "minimal"], needs: "", dependencies: ["pg-boss"] },
  mail: { ...accounts, dependencies: ["nodemailer"] },
  live: { ...accounts, dependencies: [], showsItems: true },
  mcp: {
    ...anyApp,
    dependencies: ["@modelcontextprotocol/server"],
    devDependencies: ["@modelcontextprotocol/client"],
  },
  metrics: { ...anyApp, dependencies: ["prom-client"] },
  tracing: { ...anyApp, dependencies: ["@opentelemetry/api"] },
  oidc: { ...accounts, dependencies: ["openid-client"] },
  redis: { ...accounts, dependencies: ["ioredis"] },
  page: { ...accounts, dependencies: [], showsItems: true },
  nginx: { ...anyApp, dependencies: [] },
};

/** The packages of all optional parts. */
export const extraPackages = Object.values(extras)
  .flatMap(({ dependencies, devDependencies = [] }) => [...dependencies, ...devDependencies])
  .toSorted();

/** The optional parts that a project can have. */
export const extrasFor = (answers: Chosen): readonly Extra[] =>
  extraNames.filter((name) => findExtraFault(name, { ...answers, docker: answers.docker ?? true }) === null);

/** The optional parts of a project, with those that they need. A mail is sent by a job. */
export function extrasOf({ extras: chosen = [] }: Chosen): readonly Extra[] {
  return extraNames.filter((name) => chosen.includes(name) || (name === "jobs" && chosen.includes("mail")));
}

export const hasExtra = (answers: Chosen, name: Extra): boolean => extrasOf(answers).includes(name);

/** True if a separate process runs the jobs. In `auth` they are in the application's database, and SQLite runs them in the server. */
export function hasWorker(answers: Chosen & { database: string }): boolean {
  return hasExtra(answers, "jobs") && !(answers.template === "auth" && answers.database === "sqlite");
}

/** True if a project has a part that lines of a template are marked with. */
export function hasPart(answers: Chosen & { database: string }, part: string): boolean {
  return part === "items"
    ? answers.items !== false
    : [...extrasOf(answers), answers.database].some((one) => one === part);
}

/** The parts that a file of a template belongs to. */
export function partsOf(path: string, template: TemplateName): readonly string[] {
  const [, name] = /^(?:src|test)\/extras\/([\w-]+)[./]/.exec(path) ?? [];
  const isAuth = template === "auth";
  return [
    ...(name === undefined ? [] : [name]),
    ...(path.startsWith("nginx/") ? ["nginx"] : []),
    ...(isAuth && path.startsWith("public/") ? ["page"] : []),
    ...(isAuth && path === "public/assets/live.js" ? ["live"] : []),
    ...(isAuth && /^(?:src|test)\/routes\/items\./.test(path) ? ["items"] : []),
  ];
}

/** The packages of the optional parts of a project. */
export function packagesOfExtras(answers: Chosen): { dependencies: string[]; devDependencies: string[] } {
  const chosen = extrasOf(answers).map((name) => extras[name]);
  return {
    dependencies: chosen.flatMap(({ dependencies }) => dependencies),
    devDependencies: chosen.flatMap(({ devDependencies = [] }) => devDependencies),
  };
}

/** The reason that a project cannot have an optional part, or `null`. */
function findExtraFault(name: Extra, chosen: Chosen): string | null {
  const { template, docker, items } = chosen;
  const { templates, needs, showsItems = false } = extras[name];
  if (template !== undefined && !templates.includes(template)) {
    return `${name} needs ${needs}: write --template ${templates.join(" or --template ")}`;
  }
  if (showsItems && items === false) {
    return `${name} shows the items: leave --no-items out`;
  }
  if (name === "nginx" && docker === false) {
    return "nginx is a service of compose.yaml: leave --no-docker out";
  }
  return findProcessFault(name, chosen);
}

/** The reason that an optional part does not run where the project runs, or `null`. */
function findProcessFault(name: Extra, { runtime = "node", deploy }: Chosen): string | null {
  if (runtime !== "node") {
    return `${name} runs on Node, not on ${profileOf(runtime).title}: write --runtime node`;
  }
  if (partsOfProcesses.includes(name) && !runsProcesses(deploy)) {
    return `${name} needs a process that keeps running, which ${titleOf(deploy)} does not have: write --deploy fly or --deploy kubernetes`;
  }
  const version = nodeVersion();
  return (name === "jobs" || name === "mail") && isOlder(version, NODE_OF_JOBS)
    ? `${name} needs Node ${NODE_OF_JOBS.join(".")} or later, and this is Node ${version}`
    : null;
}

/** The Node of the project: the one that runs this, unless `CREATE_TSGI_NODE` contains the version of another one. */
const nodeVersion = () => process.env["CREATE_TSGI_NODE"] ?? process.versions.node;

function isOlder(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split(".").map(Number);
  return ownMajor < major || (ownMajor === major && ownMinor < minor);
}

/** The reason that a project cannot have its optional parts, or `null`. */
export function findExtrasFault(given: Chosen): string | null {
  const { template, items, extras: chosen = [] } = given;
  if (items === false && template !== undefined && template !== "auth") {
    return `the template ${template} has no items of users: leave --no-items out, or write --template auth`;
  }
  const faults = chosen.flatMap((name) => findExtraFault(name, given) ?? []);
  return faults[0] ?? null;
}
