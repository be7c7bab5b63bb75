/** Calls an application in memory, and shows what its handler was given. */
import type { AppOptions } from "../../core/src/app/application.js";
import { App } from "../../core/src/app/app.js";
import type { Params } from "../../core/src/parameters/annotation.js";
import type { RouteOptions } from "../../core/src/routing/options.js";
import { type Answer, call, type CallApp, type Sent } from "./call.js";
import { KeptLog } from "./kept-log.js";

export { call, KeptLog };
export type { Answer, Sent };

/** The source of a probe, and further options of its route. */
export interface ProbeOptions extends Omit<RouteOptions, "params"> {
  /** Defaults to `POST`. */
  readonly method?: string;
  /** The pattern. Defaults to `/`. */
  readonly path?: string;
  readonly app?: AppOptions;
}

/** A response, and the handler's arguments. */
export interface Probed extends Answer {
  /** `undefined` when the handler was not called. */
  readonly args: Readonly<Record<string, unknown>> | undefined;
  readonly log: readonly string[];
}

/** A route with these params, whose handler records its arguments. Call it with a target and what is sent. */
export function probe(
  params: Params,
  { method, path = "/", app: appOptions, ...options }: ProbeOptions = {},
  callApp: CallApp = call,
) {
  const log = new KeptLog();
  const app = new App({ logger: log, ...appOptions });
  let args: Record<string, unknown> | undefined;
  const used = method ?? "POST";
  app.route(path, { ...options, params, methods: [used] }, async (given: Record<string, unknown>) => {
    args = given;
    return null;
  });
  return async (target = "/", sent: Sent = {}): Promise<Probed> => {
    args = undefined;
    const answer = await callApp(app, used, target, sent);
    return { ...answer, args, log: log.lines };
  };
}

/** A route that returns this result, called without arguments. */
export function returning(result: unknown, options: Omit<RouteOptions, "params"> = {}, callApp: CallApp = call) {
  const log = new KeptLog();
  const app = new App({ logger: log });
  app.route("/result", { ...options, methods: ["GET"] }, async () => result);
  return async (): Promise<Probed> => ({ ...(await callApp(app, "GET", "/result")), args: undefined, log: log.lines });
}

/** An error's type and location in one text, `int_parsing path.item_id`. */
export function faultLines(answer: Answer): string[] {
  return answer.faults.map(({ type, loc }) => `${type} ${loc.join(".")}`);
}
