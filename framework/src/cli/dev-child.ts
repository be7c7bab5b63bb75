/** The process in which `tsgi dev` serves: ends with its parent, and says in full why it could not start. @module */
import { setTimeout as wait } from "node:timers/promises";
import type { ASGIApp } from "../asgi.js";
import { type RunningServer, serve } from "../node.js";
import { checkHabits, explainMethod } from "./doctor/habits.js";
import { loadEnvFileIfExists } from "./env-file.js";
import { fail } from "./errors.js";
import { isTsgiApp, loadServedApp } from "./load-app.js";
import { type RunFlags, toServeOptions } from "./serve-options.js";

/** Milliseconds that running requests have when a file has changed: a page with an open stream must not hold the reload. */
const DRAIN_MS = 300;

/** Milliseconds that shutdown hooks have beyond that. */
const HOOKS_MS = 200;

async function start(file: string, flags: RunFlags, files: readonly string[]): Promise<void> {
  for (const each of files) loadEnvFileIfExists(each);
  const { app } = await loadServedApp(file);
  const server = await serve(app, { ...toServeOptions(flags), signals: false, shutdownTimeoutMs: DRAIN_MS });
  const stop = () => void end(server);
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  showPages(app, server.url);
  showHabits(app);
  process.send?.("ready");
}

async function end(server: RunningServer): Promise<never> {
  await server.close().catch(() => wait(HOOKS_MS));
  process.exit(0);
}

function showPages(app: ASGIApp, url: string): void {
  if (!isTsgiApp(app)) return;
  const { docsUrl = "/docs" } = app.settings;
  if (docsUrl !== null) process.stderr.write(`Documentation: ${url}${docsUrl}\n`);
}

/** What nothing refuses, and what does not do what it seems to. */
function showHabits(app: ASGIApp): void {
  if (!isTsgiApp(app)) return;
  for (const { text } of checkHabits(app)) process.stderr.write(`tsgi dev: ${text}\n`);
}

function failWithAdvice(error: unknown): void {
  const advice = explainMethod(error);
  if (advice !== null) process.stderr.write(`tsgi dev: ${advice}\n`);
  fail(error);
}

process.on("disconnect", () => process.exit(1)); // the supervisor is gone, by kill -9 perhaps

const [file = "", flags = "{}", ...files] = process.argv.slice(2);
Error.stackTraceLimit = 50; // as in the command itself
start(file, JSON.parse(flags) as RunFlags, files).catch(failWithAdvice);
