/** A project as `npm create tsgi -- --deploy NAME` writes it, with the application of the statements. */
import { execFileSync } from "node:child_process";
import { cpSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { FRAMEWORK, installPackages } from "../support/packages.js";
import { bundle } from "./_platform.js";

const CREATE = path.join(FRAMEWORK, "../generators/bin/create-tsgi.js");

/** The environment of a program that a user starts: without the options of the tests. */
export function environment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, ...env } = process.env;
  return { ...env, ...more };
}

/** Packages that the project imports; all others are in the bundle of the application. */
const EXTERNAL = ["tsgi", "@tsgi/otel", "@opentelemetry/api"];

const APP = `// @ts-expect-error It has no types.
import { createApp } from "./statements.js";

export const app = createApp({ pool: { kind: "inline" } });
`;

/** Writes the project for a platform into a folder. Returns its path. */
export async function createProject(home: string, deploy: string): Promise<string> {
  const flags = ["--template=minimal", "--yes", "--no-install", "--no-git", `--deploy=${deploy}`];
  execFileSync(process.execPath, [CREATE, "anywhere", ...flags], { cwd: home, env: environment(), stdio: "ignore" });
  const project = path.join(home, "anywhere");
  await installPackages(project, EXTERNAL);
  followLinks(path.join(project, "node_modules"));
  await bundle(home, 'export { createApp } from "./app.mjs";', {
    outfile: path.join(project, "src/statements.js"),
    external: EXTERNAL.flatMap((name) => [name, `${name}/*`]),
  });
  writeFileSync(path.join(project, "src/app.ts"), APP);
  return project;
}

/** Replaces links by copies, as an installation has them: a tracer leaves out files from outside of a project. */
function followLinks(folder: string): void {
  const copy = `${folder}-copy`;
  cpSync(folder, copy, { recursive: true, dereference: true });
  rmSync(folder, { recursive: true });
  renameSync(copy, folder);
}
