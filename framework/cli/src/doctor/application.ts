/** The application: whether it loads, its parts, and where its handlers run. @module */
import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { App, Callable } from "tsgi";
import { type DependencyStep, endpointsOf, plural, poolOf, reportSettings } from "tsgi/internals";
import { showFailure } from "../errors.js";
import { loadTsgiApp, startsServer } from "../load-app.js";
import { isTypeScript } from "../typescript.js";
import { checkDependencies } from "./dependencies.js";
import { defaultKey, isKey } from "./environment.js";
import { fault, type Finding, note, ok } from "./finding.js";
import { checkHabits, explainMethod } from "./habits.js";
import { checkTools } from "./tools.js";

/** Loads and checks the application. */
export async function checkApplication(file: string): Promise<Finding[]> {
  try {
    const { app, shownFile } = await loadTsgiApp(file);
    await readSettings(app);
    const found = ok("application", `${shownFile}: ${plural(app.routes.length, "route")}`);
    return [
      found,
      ...checkDocument(app),
      ...(await checkStart()),
      ...checkCopies(file),
      ...checkDebug(app),
      ...checkHabits(app),
      ...checkTools(app),
      ...(await checkDependencies(app)),
      ...(await checkPool(app, file)),
      ...checkSettings(),
    ];
  } catch (error) {
    const explained = explainMethod(error);
    return [
      fault("application", showFailure(error)),
      ...(explained === null ? [] : [note("application", explained)]),
      ...checkSettings(),
    ];
  }
}

/** Milliseconds that the dependencies have to read settings. */
const SETTINGS_MS = 1000;

/**
 * Calls the dependencies of scope `"app"` without dependencies and without cleanup, such as those that call
 * `loadSettings`. Their errors are not reported here, but the settings that they have found.
 */
async function readSettings(app: App): Promise<void> {
  const steps = endpointsOf(app).flatMap(({ plan }) => [...plan.guards, ...plan.handler.dependencies]);
  const callables = new Set(steps.flatMap(independentOf));
  const calls = Array.from(callables, async (callable) => Reflect.apply(callable, undefined, [{}]) as unknown);
  await Promise.race([Promise.allSettled(calls), wait(SETTINGS_MS)]);
}

function independentOf({ scope, plan }: DependencyStep): Callable[] {
  const isOne = scope === "app" && plan.shape === "function" && plan.steps.length === 0;
  return [...(isOne ? [plan.callable] : []), ...plan.dependencies.flatMap(independentOf)];
}

const SETTING_STATES = { set: ok, default: ok, missing: fault, invalid: fault } as const;

/**
 * Lists the variables that `loadSettings` has found by name. Attack: values may be secret, except defaults and numbers.
 */
function checkSettings(): Finding[] {
  const reports = reportSettings();
  const hasDefaultKey = ({ state, variable }: (typeof reports)[number]) => state === "default" && isKey(variable);
  const settings = reports.filter((setting) => !hasDefaultKey(setting));
  const found = Object.entries(SETTING_STATES).flatMap(([state, mark]) => {
    const names = settings
      .filter((setting) => setting.state === state)
      .map(({ variable, value }) => {
        const isShown = value !== null && (state === "default" || typeof value === "number");
        return isShown ? `${variable} (${JSON.stringify(value)})` : variable;
      });
    return names.length === 0 ? [] : [mark("settings", `${state}: ${names.join(", ")}`)];
  });
  return [...found, ...reports.filter(hasDefaultKey).map(({ variable }) => defaultKey(variable))];
}

function checkDocument(app: App): Finding[] {
  try {
    app.openapi();
    return [ok("OpenAPI", "the document can be made")];
  } catch (error) {
    return [fault("OpenAPI", showFailure(error))];
  }
}

/** Milliseconds in which a server that is not awaited begins to listen. */
const LISTEN_MS = 100;

async function checkStart(): Promise<Finding[]> {
  await wait(LISTEN_MS);
  if (!startsServer()) return [];
  const text =
    "the module starts a server as soon as it is imported, including by this command. Put serve() into a separate file " +
    "that imports the app.";
  return [note("application", text)];
}

/** The folder of the framework that an importer at a place gets. */
function frameworkOf(place: string): string {
  return path.dirname(realpathSync(createRequire(place).resolve("tsgi/package.json")));
}

/** Two copies of one package are two sets of classes: `instanceof` fails between them. */
function checkCopies(file: string): Finding[] {
  try {
    const folder = frameworkOf(file);
    if (folder === frameworkOf(import.meta.url)) return [];
    const { version } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as { version: string };
    const text = `the application uses tsgi ${version} of ${folder}, this command is of another copy. Run npx tsgi there.`;
    return [note("packages", text)];
  } catch {
    return []; // it imports the framework by a path
  }
}

/** Starts the workers, as the first request of a plain handler would. */
async function findPoolFault(app: App): Promise<Finding[]> {
  try {
    await poolOf(app).try();
    return [];
  } catch (error) {
    return [fault("pool", showFailure(error))];
  }
}

function checkDebug(app: App): Finding[] {
  if (app.settings.debug !== true || process.env["NODE_ENV"] !== "production") return [];
  return [fault("debug", "is on, with NODE_ENV=production: every 500 shows the stack to every client")];
}

async function checkPool(app: App, file: string): Promise<Finding[]> {
  const pooled = endpointsOf(app).filter(({ isPooled }) => isPooled);
  if (pooled.length === 0) return [];
  const names = pooled.map(({ record }) => `${record.method} ${record.path}`).join(", ");
  const kind = app.settings.pool?.kind === "thread" ? "threads" : "processes";
  const text = `plain handlers, which run in a pool of ${kind}: ${names}. Make them async unless they compute for long.`;
  const builtFirst = "each worker compiles the TypeScript again: build before production";
  return [note("pool", text), ...(isTypeScript(file) ? [note("pool", builtFirst)] : []), ...(await findPoolFault(app))];
}
