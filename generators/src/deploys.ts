import { hasDatabase } from "./databases.js";
import type { Database, Deploy, Extra, Runtime, TemplateName } from "./options.js";
import { runtimesOf } from "./runtimes.js";

/** The needs of a platform. */
interface Platform {
  title: string;
  /** The runtimes of its projects, the default first. */
  runtimes: readonly Runtime[];
  /** True if it runs the image of the Dockerfile. Otherwise it runs a function, without files and native modules. */
  image: boolean;
}

const platforms: Readonly<Record<Deploy, Platform>> = {
  none: { title: "", runtimes: ["node", "bun", "deno", "workers"], image: false },
  lambda: { title: "AWS Lambda", runtimes: ["node"], image: false },
  vercel: { title: "Vercel", runtimes: ["node"], image: false },
  netlify: { title: "Netlify", runtimes: ["node"], image: false },
  cloudflare: { title: "Cloudflare", runtimes: ["workers"], image: false },
  fly: { title: "Fly.io", runtimes: ["node", "bun", "deno"], image: true },
  kubernetes: { title: "Kubernetes", runtimes: ["node", "bun", "deno"], image: true },
};

/** The choices that a platform depends on. */
interface Chosen {
  template?: TemplateName;
  database?: Database;
  runtime?: Runtime;
  deploy?: Deploy;
  extras?: readonly Extra[];
  docker?: boolean;
}

const isFunction = (deploy: Deploy) => deploy !== "none" && !platforms[deploy].image;

/** The optional parts that work in a process which keeps running. */
export const partsOfProcesses: readonly Extra[] = ["jobs", "mail", "metrics", "nginx"];

/** True if the worker of jobs can run there: a platform of functions responds to requests only. */
export const runsProcesses = (deploy: Deploy = "none"): boolean => !isFunction(deploy);

export const titleOf = (deploy: Deploy = "none"): string => platforms[deploy].title;

/** True if a platform runs the image of the Dockerfile. */
export const needsImage = (deploy: Deploy = "none"): boolean => platforms[deploy].image;

/** The runtime of a project: the platform has one, unless it is given. */
export function runtimeOf({ runtime, deploy = "none" }: Chosen): Runtime {
  return runtime ?? platforms[deploy].runtimes[0] ?? "node";
}

/** True if a template can be deployed to a platform. */
export function canDeploy(template: TemplateName, deploy: Deploy = "none"): boolean {
  return !isFunction(deploy) || template !== "auth";
}

/** The runtimes of a template on a platform, the default first. */
export function runtimesFor(answers: Chosen & { template: TemplateName; database: Database }): readonly Runtime[] {
  const { runtimes } = platforms[answers.deploy ?? "none"];
  return runtimesOf(answers)
    .filter((runtime) => runtimes.includes(runtime))
    .filter((runtime) => runtime === "node" || (answers.extras ?? []).length === 0);
}

/** The platforms to which a project can be deployed, the default first. */
export function deploysOf(answers: Chosen & { template: TemplateName; database: Database }): readonly Deploy[] {
  const names = Object.keys(platforms) as Deploy[];
  return names.filter((deploy) => {
    const { runtimes, image } = platforms[deploy];
    if (deploy === "none" || answers.runtime === "workers") {
      return deploy === "none"; // wrangler.jsonc is one of the runtime's files
    }
    const fits = image ? answers.docker !== false : canDeploy(answers.template, deploy) && !hasDatabase(answers);
    const isPossible = runsProcesses(deploy) || !answers.extras?.some((name) => partsOfProcesses.includes(name));
    return fits && isPossible && runtimes.includes(answers.runtime ?? "node");
  });
}

/** The reason that a project cannot be deployed to a platform, or `null`. */
export function findDeployFault({ template, database, runtime, deploy = "none", docker }: Chosen): string | null {
  const { title, runtimes, image } = platforms[deploy];
  if (runtime !== undefined && !runtimes.includes(runtime)) {
    return `a project on ${title} does not run on ${runtime}: leave --runtime out`;
  }
  if (image && docker === false) {
    return `${title} runs the image of the Dockerfile: leave --no-docker out`;
  }
  if (!isFunction(deploy)) {
    return null;
  }
  const others = "write --deploy fly or --deploy kubernetes";
  if (template === "auth") {
    return `the template auth does not run on ${title}, as it needs files and native modules: ${others}, or --template api`;
  }
  return template !== "minimal" && database !== undefined && database !== "none"
    ? `a project with a database does not run on ${title}: ${others}, or leave --database out`
    : null;
}
