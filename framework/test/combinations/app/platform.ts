/** The library for platforms that call a function: Workers, Deno, Bun. @module */
import type { Logger } from "tsgi";
import {
  type ClosableFetchHandler,
  type FetchContext,
  type FetchHandler,
  type FetchHandlerOptions,
  toFetchHandler,
} from "tsgi/web";
import { createApp, DEVELOPMENT } from "./app.js";

/** Passes on a request with its region, and keeps work that runs after its response. */
export function inRegion(handler: FetchHandler, region: string, pending: Promise<unknown>[] = []): FetchHandler {
  return (request, context: FetchContext = {}) => {
    const waitUntil = (promise: Promise<unknown>) => void pending.push(promise);
    return handler(request, { ...context, env: { region }, waitUntil });
  };
}

/** The handler that the platform calls. */
export function createHandler(logger?: Logger): ClosableFetchHandler {
  const { app } = createApp({ env: DEVELOPMENT, ...(logger && { logger }) });
  const options: FetchHandlerOptions = { lifespan: "auto", ...(logger && { logger }) };
  return toFetchHandler(app, options);
}
