import type { Answers } from "./answers.js";
import { profileOf, type Installer } from "./runtimes.js";

/** The program that installs the packages of a project. */
export function installerOf({ runtime, packageManager }: Pick<Answers, "runtime" | "packageManager">): Installer {
  return profileOf(runtime).installer ?? packageManager;
}

/** The reason that answers contradict each other, or `null`. */
export function findRuntimeFault(given: Partial<Answers>): string | null {
  const { title, templates, reason, parts, installer } = profileOf(given.runtime);
  const { template } = given;
  if (template !== undefined && !templates.includes(template)) {
    const others = templates.map((name) => `--template ${name}`).join(" or ");
    return `the template ${template} does not run on ${title}: ${reason}; write ${others}, or --runtime node`;
  }
  if (installer !== null && given.packageManager !== undefined) {
    return `${title} installs packages itself: leave --package-manager out`;
  }
  if (given.docker === true && !parts.includes("docker")) {
    return `a project on ${title} has no Dockerfile: wrangler deploys it; leave --docker out`;
  }
  if (given.loadTests === true && !parts.includes("loadTests")) {
    return `the load test runs on Node: leave --load-tests out, or write --runtime node`;
  }
  return null;
}

/** Takes from the defaults what the runtime does not have. */
export function fitDefaults(defaults: Answers, given: Partial<Answers>): Answers {
  const { templates, parts } = profileOf(given.runtime);
  return {
    ...defaults,
    template: templates[0] ?? defaults.template,
    docker: defaults.docker && parts.includes("docker"),
    loadTests: defaults.loadTests && parts.includes("loadTests"),
  };
}
