/** The process in which `tsgi dev` serves: ends with its parent, and reports in full why it could not start. @module */
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { App } from "tsgi";
import { type RunningServer, serve } from "tsgi/node";
import { markHandled, startPoolsEagerly } from "tsgi/internals";
import { checkHabits, explainMethod } from "./doctor/habits.js";
import { loadEnvFileIfExists } from "./env-file.js";
import { report } from "./errors.js";
import { crash, exit } from "./exit.js";
import { reportRequests, type ServeOrder } from "./history.js";
import { INSPECTOR_PATH, inspected } from "./inspector.js";
import { Recorder } from "./inspector/recorder.js";
import { isTsgiApp, loadServedApp, prepareToLoad } from "./load-app.js";
import type { DevOrder, ServedFlags } from "./dev-process.js";
import { requestLog } from "./request-log.js";
import { toServeOptions } from "./run.js";

/** Milliseconds that running requests have when a file has changed: a page with an open stream must not hold the reload. */
const DRAIN_MS = 300;

/** Milliseconds that shutdown hooks have beyond that. */
const HOOKS_MS = 200;

/**
 * Makes Node report each imported file to the parent, as for its own `--watch`, including files that are imported
 * later. Not documented; the documented hooks of `node:module` do not see the modules that `require` loads on Node 20.
 */
const REPORT = "WATCH_REPORT_DEPENDENCIES";

/**
 * Makes the outputs write before a call returns, as at a terminal. Node writes to a pipe later, and `process.exit`
 * drops the waiting data. No documented option does it.
 */
function writeAtOnce(): void {
  for (const output of [process.stdout, process.stderr]) {
    const { _handle: handle } = output as { _handle?: { setBlocking?: (isBlocking: boolean) => void } };
    handle?.setBlocking?.(true);
  }
}

async function start(file: string, flags: ServedFlags, files: readonly string[]): Promise<void> {
  const ordered = once(process, "message") as Promise<[ServeOrder]>;
  const warm = markHandled(prepareToLoad(file)); // a failure is reported once it is to serve, not before
  const [{ history }] = await ordered;
  for (const each of files) loadEnvFileIfExists(each);
  await warm;
  process.env[REPORT] = "1";
  startPoolsEagerly(); // an entry that cannot work is reported before the first request
  const { app } = await loadServedApp(file);
  const recorder = new Recorder();
  recorder.restore(history);
  void reportRequests(recorder, (requests) => process.send?.({ requests }));
  const served = inspected(app, flags.accessLog ? [requestLog()] : [], recorder);
  const server = await serve(served, { ...toServeOptions(flags), signals: false, shutdownTimeoutMs: DRAIN_MS });
  const stop = () => void end(server);
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("message", (order: DevOrder) => order === "end" && stop());
  if (isTsgiApp(app)) showApp(app, server.url);
  process.stderr.write(`Inspector: ${server.url}${INSPECTOR_PATH}\n`);
  process.send?.("ready");
}

async function end(server: RunningServer): Promise<never> {
  await server.close().catch(() => wait(HOOKS_MS));
  process.exit(0);
}

function showApp(app: App, url: string): void {
  const { docsUrl = "/docs" } = app.settings;
  if (docsUrl !== null) process.stderr.write(`Documentation: ${url}${docsUrl}\n`);
  for (const { text } of checkHabits(app)) process.stderr.write(`tsgi dev: ${text}\n`);
}

function fail(error: unknown): void {
  const advice = explainMethod(error);
  if (advice !== null) process.stderr.write(`tsgi dev: ${advice}\n`);
  exit(report(error, process.stderr));
}

process.on("disconnect", () => process.exit(1)); // the supervisor has exited, for example by kill -9

writeAtOnce();
const [file = "", flags = "{}", ...files] = process.argv.slice(2);
start(file, JSON.parse(flags) as ServedFlags, files)
  .catch(fail)
  .catch(crash);
