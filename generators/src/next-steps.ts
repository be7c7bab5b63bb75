import { isAbsolute, relative, sep } from "node:path";
import type { Answers } from "./answers.js";
import { hasDatabase } from "./databases.js";
import type { TemplateName } from "./options.js";
import { commandsOf } from "./package-manager.js";
import { installerOf } from "./runtime-answers.js";
import { editCommand, quotePath } from "./shell.js";

/** The state of a new project. */
export interface WrittenProject {
  /** Absolute. */
  folder: string;
  isInstalled: boolean;
}

/** An example request to a new project. */
const examples: Readonly<Record<TemplateName, string>> = {
  auth: "curl -d 'username=demo&password=demo-password' http://127.0.0.1:8000/auth/token",
  api: `curl -H 'Content-Type: application/json' -d '{"name": "Pen", "price": 1.5}' http://127.0.0.1:8000/items`,
  minimal: 'curl "http://127.0.0.1:8000/items/42?version=3"',
};

/** One command to type next. */
export interface NextStep {
  command: string;
  effect?: string;
}

const composeStep: NextStep = {
  command: "docker compose up --detach postgres",
  effect: "or name another PostgreSQL in .env",
};
const environmentStep: NextStep = { command: editCommand(".env"), effect: "DATABASE_URL names your PostgreSQL" };

/** The next commands to type in the current folder. */
export function nextSteps(
  { folder, isInstalled }: WrittenProject,
  answers: NextAnswers,
  currentFolder: string,
): NextStep[] {
  const { template, database, docker, runtime } = answers;
  const path = relative(currentFolder, folder);
  const isBelow = path !== "" && !isAbsolute(path) && path.split(sep)[0] !== "..";
  const { install, run, start, test } = commandsOf(installerOf(answers));
  const needsServer = hasDatabase({ template, database }) && database === "postgresql";
  return [
    ...(path === "" ? [] : [{ command: `cd ${quotePath(isBelow ? path : folder)}` }]),
    ...(isInstalled ? [] : [{ command: install }]),
    ...(needsServer ? [docker ? composeStep : environmentStep] : []),
    ...(runtime === "workers" ? workersSteps(run, test) : [...serveSteps(start, run, template), { command: test }]),
  ];
}

function serveSteps(start: string, run: string, template: TemplateName): NextStep[] {
  const demo = template === "auth" ? " and names a demo user" : "";
  return [
    { command: start, effect: `serves on http://127.0.0.1:8000${demo}` },
    { command: `${run} dev`, effect: "the same, and restarts when a file changes" },
  ];
}

function workersSteps(run: string, test: string): NextStep[] {
  return [
    { command: `${run} dev`, effect: "serves on http://127.0.0.1:8000 by workerd, and reloads when a file changes" },
    { command: test },
    { command: `${run} deploy`, effect: "deploys it to Cloudflare" },
  ];
}

/** An example request, for a running project. */
export function exampleRequest(template: TemplateName): string {
  return examples[template];
}

type NextAnswers = Pick<Answers, "template" | "database" | "docker" | "runtime" | "packageManager">;

/** The next commands as text, with an example request. */
export function describeNextSteps(project: WrittenProject, answers: NextAnswers, currentFolder: string): string {
  const steps = nextSteps(project, answers, currentFolder);
  const width = Math.max(12, ...steps.filter(({ effect }) => effect).map(({ command }) => command.length + 2));
  const lines = steps.map(({ command, effect = "" }) => `  ${command.padEnd(effect ? width : 0)}${effect}`);
  return `
Next:

${lines.join("\n")}

While it serves, in another terminal:

  ${examples[answers.template]}
`;
}
