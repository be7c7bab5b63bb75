/** The tool library on Node: with files, passwords, separate pools, metrics, traces and tools for agents. @module */
import { mcp, type McpOptions } from "@tsgi/mcp";
import { type MetricsRouterOptions, prometheus, type Prometheus, type PrometheusOptions } from "@tsgi/metrics";
import {
  accessLog,
  type AccessLogOptions,
  logContext,
  type LogContext,
  type LogFields,
  serverTiming,
} from "tsgi/middleware";
import { openTelemetry, type OpenTelemetryOptions } from "@tsgi/otel";
import { getCaller, LoginThrottle, type LoginThrottleOptions, Passwords, type PasswordsOptions } from "@tsgi/passwords";
import { Body, Depends, type ShedOptions, t } from "tsgi";
import { createApp, type Parts } from "./app.js";
import { createFiles, mountPages } from "./files.js";
import { createLedger, type LedgerParts } from "./ledger.js";
import type { VerifyPassword } from "./routes/account.js";
import { router as workshop } from "./workshop.js";

export interface NodeParts extends Omit<Parts, "verify"> {
  /** The folder of the pages. */
  readonly assets: string | URL;
  readonly ledger?: LedgerParts;
  readonly telemetry?: OpenTelemetryOptions;
  /** Takes the lines of the access log. */
  readonly write?: AccessLogOptions["write"];
  /** Sends the time of each step as a header. */
  readonly isTimed?: boolean;
}

/** More than any test sends. */
const guesses: LoginThrottleOptions = { perAddress: 1_000, perAccount: 1_000, perPair: 1_000 };
const cheap: PasswordsOptions = { memoryKiB: 1024, passes: 2, minLength: 3 };

/** Passwords by argon2id. The hash of a member is made at the first login. */
function createVerify(passwords: Passwords): VerifyPassword {
  const throttle = new LoginThrottle(guesses);
  const hashes = new Map<string, string>();
  const isRight = async (name: string, password: string) => {
    const known = hashes.get(name) ?? (await passwords.hash(`password-of-${name}`));
    hashes.set(name, known);
    return passwords.isAcceptable(password) && !passwords.isOutdated(known) && passwords.verify(password, known);
  };
  return async (name, password) =>
    (await throttle.attempt("192.0.2.1", name, async () => ((await isRight(name, password)) ? name : null))) !== null;
}

/** No test keeps the loop busy for a minute. */
const shed: ShedOptions = { eventLoopDelayMs: 60_000, exempt: ["/health/live"] };
const buckets: PrometheusOptions = { buckets: [0.1, 1, 10] };
const scrapes: MetricsRouterOptions = { privateOnly: true };
const agents: McpOptions = { path: "/mcp", maxResultBytes: 10_000 };

/** All that observes the library, at once. */
function createObservers({
  telemetry = {},
  write = () => {},
  isTimed = false,
  instrumentation = [],
}: Partial<NodeParts>) {
  const metrics: Prometheus = prometheus(buckets);
  const context: LogContext = logContext();
  const traces = openTelemetry({ steps: true, ...telemetry });
  const log = accessLog({ write, query: true });
  const observers = [traces, context, log, metrics, ...(isTimed ? [serverTiming()] : []), ...instrumentation];
  return { metrics, context, observers };
}

export function createNodeApp(parts: NodeParts) {
  const { assets, ledger } = parts;
  const { metrics, context, observers } = createObservers(parts);
  const passwords = new Passwords(cheap);
  const { app, account } = createApp({ ...parts, instrumentation: observers, verify: createVerify(passwords), shed });
  app.includeRouter(createFiles(assets), { prefix: "/v1" });
  app.includeRouter(workshop, { prefix: "/v1" });
  if (ledger) app.includeRouter(createLedger(ledger), { prefix: "/v1" });
  app.includeRouter(metrics.router("/metrics", scrapes));
  app.includeRouter(mcp(app, agents));
  app.get("/v1/log-fields", { includeInSchema: false }, async (): Promise<Partial<LogFields>> => {
    const { elapsedMs: _elapsed, ...fields } = context.fields();
    return fields;
  });
  const password = Body(t.String(), { embed: true });
  app.post(
    "/v1/passwords",
    { includeInSchema: false, params: { password, caller: Depends(getCaller) }, returns: t.String() },
    async ({ password: chosen, caller }) => {
      passwords.assertAcceptable(chosen, ["body", "password"]);
      return passwords.hash(chosen, caller);
    },
  );
  mountPages(app, assets);
  return { app, account, metrics };
}
