import { runsProcesses, titleOf } from "./deploys.js";
import type { Deploy, Runtime, TemplateName } from "./options.js";
import { profileOf } from "./runtimes.js";

/** The choices that jobs depend on. */
interface Chosen {
  template?: TemplateName;
  runtime?: Runtime;
  deploy?: Deploy;
  jobs?: boolean;
}

/** True for a template whose projects have jobs in any case. */
export const hasOwnJobs = (template?: TemplateName): boolean => template === "auth";

/** True if a project has the choice of jobs. pg-boss runs on Node, and a worker is a process. */
export function canHaveJobs({ template, runtime = "node", deploy }: Chosen): boolean {
  return !hasOwnJobs(template) && runtime === "node" && runsProcesses(deploy);
}

/** True for projects with the files of `overlays/jobs`. */
export const hasJobs = (answers: Chosen): boolean => answers.jobs === true && canHaveJobs(answers);

/** The reason that a project cannot have jobs, or has to have them; else `null`. */
export function findJobsFault({ template, runtime = "node", deploy, jobs }: Chosen): string | null {
  if (jobs === false && hasOwnJobs(template)) {
    return "the template auth sends its emails by jobs: leave --no-jobs out, or write --template api";
  }
  if (jobs !== true) {
    return null;
  }
  if (!runsProcesses(deploy)) {
    return `a worker is a process, which ${titleOf(deploy)} does not run: leave --jobs out, or write --deploy fly or --deploy kubernetes`;
  }
  return runtime === "node"
    ? null
    : `jobs run on Node, not on ${profileOf(runtime).title}: leave --jobs out, or write --runtime node`;
}
