/** A function of Vercel: built by Vercel's command, and run by its handler or its documented interface. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { binaryOf, installOnDemand } from "../support/on-demand.js";
import { type Running, startProgram } from "./_platform.js";
import { createProject, environment } from "./_project.js";

export const VERCEL = "vercel@64.0.2";

/** `sandbox` is for another command of Vercel's. */
const findVercel = () => installOnDemand("vercel", [VERCEL], { sandbox: "npm:@favware/skip-dependency@1.2.2" });

/** A project that is linked, as `vercel link` leaves it. */
const LINK = JSON.stringify({ projectId: "prj_anywhere", orgId: "team_anywhere", settings: {} });

/** The parts that are read here of a function's configuration. */
interface FunctionConfig {
  readonly handler: string;
  /** Files of the project that belong to the function, by their path in it. */
  readonly filePathMap?: Readonly<Record<string, string>>;
}

/** Runs `vercel build`. Returns the folder of the function, with all its files, and its entry. */
export function buildFunction(project: string): { readonly folder: string; readonly handler: string } {
  mkdirSync(path.join(project, ".vercel"));
  writeFileSync(path.join(project, ".vercel/project.json"), LINK);
  execFileSync(process.execPath, [path.join(findVercel(), "node_modules/vercel/dist/vc.js"), "build", "--yes"], {
    cwd: project,
    env: environment({ VERCEL_INSTALL_COMPLETED: "1", VERCEL_TELEMETRY_DISABLED: "1" }),
    stdio: ["ignore", "ignore", process.env["TSGI_SHOW"] === undefined ? "ignore" : "inherit"],
  });
  const built = path.join(project, ".vercel/output/functions/api/index.func");
  const folder = path.join(path.dirname(project), "function");
  cpSync(built, folder, { recursive: true, dereference: true });
  const text = readFileSync(path.join(folder, ".vc-config.json"), "utf8");
  const { handler, filePathMap = {} } = JSON.parse(text) as FunctionConfig;
  for (const [to, from] of Object.entries(filePathMap)) cpSync(path.join(project, from), path.join(folder, to));
  return { folder, handler };
}

/** Builds the project of `--deploy vercel`, and starts its function by Vercel's handler. */
export async function startVercel(home: string): Promise<Running> {
  const { folder, handler } = buildFunction(await createProject(home, "vercel"));
  const launcher = path.join(findVercel(), "node_modules/@vercel/node/dist/bundling-handler.js");
  return start("vercel-handler.mjs", folder, [launcher, `/${handler.replace(/\.js$/, "")}`]);
}

/** The same, by the interface that Vercel documents for cancellation. The published programs do not have it. */
export async function startCancellable(home: string): Promise<Running> {
  const { folder, handler } = buildFunction(await createProject(home, "vercel"));
  return start("vercel-cancellation.mjs", folder, [path.join(folder, handler)]);
}

function start(program: string, folder: string, args: readonly string[]): Promise<Running> {
  const command = [binaryOf("node22"), path.join(import.meta.dirname, program), ...args];
  return startProgram(command, folder, { NODE_OPTIONS: "" });
}
