import type { Answers } from "./answers.js";
import { databasesOf } from "./databases.js";
import { canDeploy, findDeployFault, runtimeOf } from "./deploys.js";
import { findExtrasFault } from "./extras.js";
import type { CommandOptions } from "./options.js";
import { profileOf, type Installer } from "./runtimes.js";

/** The program that installs the packages of a project. */
export function installerOf({ runtime, packageManager }: Pick<Answers, "runtime" | "packageManager">): Installer {
  return profileOf(runtime).installer ?? packageManager;
}

/** `--template api --login`: an API with accounts is the template `auth`. */
export function withAccounts({ template, login }: CommandOptions): Pick<CommandOptions, "template"> {
  return login === true && template !== "minimal" ? { template: "auth" } : {};
}

/** The reason why options contradict each other, or `null`. */
export function findFault(given: Partial<Answers> & Pick<CommandOptions, "login">): string | null {
  return (
    findLoginFault(given) ??
    findDeployFault(given) ??
    findDatabaseFault({ ...given, runtime: runtimeOf(given) }) ??
    findRuntimeFault({ ...given, runtime: runtimeOf(given) }) ??
    findExtrasFault({ ...given, runtime: runtimeOf(given) })
  );
}

function findLoginFault({ template, login }: Partial<Answers> & Pick<CommandOptions, "login">): string | null {
  return login === true && template === "minimal"
    ? "accounts need a database: write --template api --login, or --template auth"
    : null;
}

function findDatabaseFault({ template, database, runtime }: Partial<Answers>): string | null {
  if (template === "auth" && database === "none") {
    return "the template auth keeps its users in a database; write --database sqlite or --database postgresql, or --template api";
  }
  const hasOne = template !== "minimal" && database !== undefined && database !== "none";
  return hasOne && !profileOf(runtime).databases
    ? `a project with a database runs on Node; leave --database out, or write --runtime node`
    : null;
}

function findRuntimeFault(given: Partial<Answers>): string | null {
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

/** Removes unsupported options of the runtime from the defaults. */
export function fitDefaults(defaults: Answers, given: Partial<Answers>): Answers {
  const runtime = runtimeOf({
    runtime: given.runtime ?? (given.deploy === undefined ? defaults.runtime : undefined),
    deploy: given.deploy,
  });
  const { templates, parts } = profileOf(runtime);
  const deployed = templates.filter((name) => canDeploy(name, given.deploy));
  const fitting = deployed.filter((name) => given.database !== "none" || databasesOf(name).includes("none"));
  const template = given.template ?? fitting[0] ?? defaults.template;
  return {
    ...defaults,
    template,
    runtime,
    database: databasesOf(template)[0] ?? "none",
    docker: defaults.docker && parts.includes("docker"),
    loadTests: defaults.loadTests && parts.includes("loadTests"),
  };
}
