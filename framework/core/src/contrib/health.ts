/** `tsgi/health`: checks for orchestrators and load balancers. @module */
import { Application } from "../app/application.js";
import { ApplicationScope, type NamedCheck } from "../parameters/dependencies/application.js";
import { consoleLogger, errorText, guardLogger, type Logger } from "../common/logger.js";
import { assertOptions, FUNCTION, OBJECT, type OptionRules, whole } from "../common/options.js";
import { MAX_TIMER_MS } from "../common/promises.js";
import { DRAINING } from "../protocol/server-context.js";
import { Request } from "../http/request.js";
import { JSONResponse } from "../http/response/kinds.js";
import { Router } from "../routing/router.js";

/** The options of `health`. */
export interface HealthOptions {
  /**
   * Checks of the services that the process requires, by name. A check fails if it throws, rejects, returns `false`, or
   * takes longer than `timeoutMs`.
   */
  checks?: Readonly<Record<string, () => unknown>>;
  /** Milliseconds that all checks have, side by side. Defaults to 2,000. */
  timeoutMs?: number;
}

const OPTIONS: OptionRules<HealthOptions> = { checks: OBJECT, timeoutMs: whole(1, MAX_TIMER_MS) };

/** The checks of the application and of its dependencies, each under a unique name. */
function allChecks(own: HealthOptions["checks"], { app, scope }: Request): NamedCheck[] {
  const checks = Object.entries(own ?? {}).map(([name, run]) => ({ name, run }));
  const names = new Set(checks.map(({ name }) => name));
  for (const { name, run } of ApplicationScope.of(app)?.lifetimeOf(scope).checks() ?? []) {
    let free = name;
    for (let number = 2; names.has(free); number++) free = `${name} ${number}`;
    names.add(free);
    checks.push({ name: free, run });
  }
  return checks;
}

/** Asks checks, and says in the log why one failed. */
class Readiness {
  readonly #timeoutMs: number;
  /** Those that have not settled: a check that hangs is not called again, even if the orchestrator asks again. */
  readonly #pending = new Map<string, Pending>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  async ask(checks: readonly NamedCheck[], logger: Logger): Promise<JSONResponse> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.#lateness()), this.#timeoutMs);
    });
    late.catch(() => {});
    const outcomes = await Promise.allSettled(checks.map((check) => this.#run(check, late)));
    clearTimeout(timer);
    const results = outcomes.map((outcome, index) => {
      const name = checks[index]?.name ?? "";
      if (outcome.status === "fulfilled" && outcome.value !== false) return [name, "ok"] as const;
      const err: unknown = outcome.status === "rejected" ? outcome.reason : new Error("It returned false.");
      logger.error({ err, check: name }, `The check ${name} failed: ${errorText(err)}`);
      return [name, "failed"] as const;
    });
    return respond(
      results.every(([, result]) => result === "ok"),
      Object.fromEntries(results),
    );
  }

  /** Waits for a check. Later requests do not wait for a late check: each would stay in memory until it settles. */
  #run({ name, run }: NamedCheck, late: Promise<never>): Promise<unknown> {
    let pending = this.#pending.get(name);
    if (pending?.isLate) return Promise.reject(this.#lateness());
    if (pending === undefined) {
      const outcome = (async () => run())().finally(() => this.#pending.delete(name));
      const started: Pending = { outcome, isLate: false };
      this.#pending.set(name, (pending = started));
      outcome.catch(() => {}); // it may fail after the response, when no code awaits it
      late.catch(() => (started.isLate = true));
    }
    return Promise.race([pending.outcome, late]);
  }

  #lateness(): Error {
    return new Error(`It took longer than ${this.#timeoutMs} ms.`);
  }
}

/** A check that has not settled, or its last one. */
interface Pending {
  readonly outcome: Promise<unknown>;
  isLate: boolean;
}

/** A cache would respond for a process that has ended. */
const headers = { "cache-control": "no-store" };

function respond(isReady: boolean, checks: Readonly<Record<string, "ok" | "failed">>): JSONResponse {
  const status = isReady ? "ok" : "unavailable";
  return new JSONResponse({ status, checks }, { statusCode: isReady ? 200 : 503, headers });
}

/**
 * Creates a router with two routes, which are not in the document: `/live` responds with 200 while the process runs;
 * `/ready` responds with 200 if every check works, including those of dependencies of scope `"app"`, and with 503 if
 * one fails or the server shuts down. Details are only in the log.
 *
 * @throws ConfigurationError for an option that cannot work.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { health } from "tsgi/health";
 *
 * const app = new App();
 * app.includeRouter(health({ checks: { disk: async () => true } }), { prefix: "/health" });
 * ```
 */
export function health(options: HealthOptions = {}): Router {
  assertOptions("health()", options, OPTIONS);
  const { checks, timeoutMs = 2_000 } = options;
  for (const [name, check] of Object.entries(checks ?? {})) FUNCTION("health(): checks", name, check);
  const readiness = new Readiness(timeoutMs);
  const router = new Router({ includeInSchema: false });
  router.get("/live", async () => new JSONResponse({ status: "ok" }, { headers }));
  router.get("/ready", { params: { request: Request } }, async ({ request }) => {
    if (DRAINING in request.state) return respond(false, {});
    const { app } = request;
    const logger = (app instanceof Application ? app.settings.logger : undefined) ?? consoleLogger;
    return readiness.ask(allChecks(checks, request), guardLogger(logger));
  });
  return router;
}
