/** `@tsgi/conformance`: the statements of ASGI 3.0, each with a check, for applications, middleware and servers. @module */
import type { ASGIApp } from "tsgi";
import { httpApplicationStatements } from "./application-http.js";
import { lifespanApplicationStatements } from "./application-lifespan.js";
import {
  type ApplicationFeature,
  type ApplicationPaths,
  type ApplicationSubject,
  lacksOf,
} from "./application-subject.js";
import { webSocketApplicationStatements } from "./application-websocket.js";
import type { ServerFeature, ServerLacks, StartServer } from "./client.js";
import { httpRequestStatements } from "./server-http-request.js";
import { httpResponseStatements } from "./server-http-response.js";
import { lifespanServerStatements } from "./server-lifespan.js";
import { webSocketServerStatements } from "./server-websocket.js";
import { checkAll, type CheckResult, type Statement } from "./statement.js";

export {
  type ApplicationFeature,
  type ApplicationPaths,
  type ApplicationSubject,
  echo,
} from "./application-subject.js";
export type {
  ClientClose,
  ClientHandshake,
  ClientRequest,
  ClientResponse,
  ClientWebSocket,
  HandshakeResponse,
  ServerFeature,
  ServerLacks,
  StartedServer,
  StartServer,
} from "./client.js";
export type { TextHeaders } from "./bytes.js";
export { overFetch } from "./fetch-client.js";
export { overHTTP2 } from "./http2-client.js";
export { overSocket } from "./socket-client.js";
export {
  type Area,
  type CheckResult,
  ConformanceError,
  type Lacks,
  type Level,
  type Statement,
  whyNotApplicable,
} from "./statement.js";

/** The statements about servers. */
export const serverStatements: readonly Statement<StartServer, ServerFeature>[] = [
  ...httpRequestStatements,
  ...httpResponseStatements,
  ...webSocketServerStatements,
  ...lifespanServerStatements,
];

/** The statements about applications. A middleware around an application is one. */
export const applicationStatements: readonly Statement<ApplicationSubject, ApplicationFeature>[] = [
  ...httpApplicationStatements,
  ...webSocketApplicationStatements,
  ...lifespanApplicationStatements,
];

/**
 * Checks each statement about applications, one after the other. Those that need a path which is left out do not apply.
 *
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { checkApplication } from "@tsgi/conformance";
 *
 * const results = await checkApplication(new App());
 * console.log(results.every(({ passed }) => passed)); // true
 * ```
 */
export function checkApplication(
  app: ASGIApp,
  paths: ApplicationPaths = {},
): Promise<CheckResult<ApplicationSubject, ApplicationFeature>[]> {
  return checkAll(applicationStatements, { app, ...paths }, lacksOf(paths));
}

/**
 * Checks each statement about servers, one after the other.
 *
 * @param lacks - Features that the server is without, each with the reason: statements that need one do not apply.
 * @example
 * ```ts
 * import { checkServer, overSocket } from "@tsgi/conformance";
 * import { serve } from "tsgi/node";
 *
 * const results = await checkServer(async (app) => {
 *   const server = await serve(app, { port: 0, signals: false });
 *   return overSocket(server.url, () => server.close());
 * });
 * ```
 */
export function checkServer(
  start: StartServer,
  lacks: ServerLacks = {},
): Promise<CheckResult<StartServer, ServerFeature>[]> {
  return checkAll(serverStatements, start, lacks);
}
