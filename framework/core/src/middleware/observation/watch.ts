/** Calls an instrumentation, and keeps its errors away from the request. @module */
import type { HTTPScope, WebSocketScope } from "../../protocol/asgi.js";
import { errorText, type Logger } from "../../common/logger.js";
import { markHandled } from "../../common/promises.js";
import type { ResponseHeaders } from "../../http/response/headers.js";
import type { Instrumentation, Observation, StepKind } from "./types.js";

function ignore(): void {}

/** An instrumentation whose errors reach no request. */
export class Instrument {
  readonly instrumentation: Instrumentation;
  readonly #logger: Logger;
  /** The methods of which an error is in the log. */
  readonly #reported = new Set<string>();

  constructor(instrumentation: Instrumentation, logger: Logger) {
    this.instrumentation = instrumentation;
    this.#logger = logger;
  }

  /** The observation of a scope; `null` if it should not be observed. */
  start(scope: HTTPScope | WebSocketScope): Watch | null {
    try {
      const observation: unknown = this.instrumentation.start(scope);
      if (isObservation(observation)) return new Watch(observation, this);
      this.settle("start", observation);
      return null;
    } catch (error) {
      this.report("start", error);
      return null;
    }
  }

  /** Logs the first error of a method. */
  report(method: string, error: unknown): void {
    if (this.#reported.has(method)) return;
    this.#reported.add(method);
    const message = `${method}() of an instrumentation failed, and is not logged again: ${errorText(error)}`;
    this.#logger.error({ err: error }, message);
  }

  /** Takes the rejection of a method that was written as an async function, which would end the process. */
  settle(method: string, result: unknown): void {
    if (result instanceof Promise) result.then(undefined, (error: unknown) => this.report(method, error));
  }
}

/** Distinguishes it from undefined, and from the promise of an async `start`. */
function isObservation(value: unknown): value is Observation {
  return typeof value === "object" && value !== null && !(value instanceof Promise);
}

/** An observation whose errors reach no request. */
export class Watch {
  readonly #observation: Observation;
  readonly #instrument: Instrument;

  constructor(observation: Observation, instrument: Instrument) {
    this.#observation = observation;
    this.#instrument = instrument;
  }

  get instrumentation(): Instrumentation {
    return this.#instrument.instrumentation;
  }

  get hasContext(): boolean {
    return this.#observation.run !== undefined;
  }

  get hasSteps(): boolean {
    return this.#observation.step !== undefined;
  }

  route(pattern: string, name: string): void {
    try {
      this.#instrument.settle("route", this.#observation.route?.(pattern, name));
    } catch (error) {
      this.#instrument.report("route", error);
    }
  }

  step(kind: StepKind, name: string): (error?: unknown) => void {
    let end: unknown;
    try {
      end = this.#observation.step?.(kind, name);
    } catch (error) {
      this.#instrument.report("step", error);
    }
    if (typeof end !== "function") {
      this.#instrument.settle("step", end);
      return ignore;
    }
    return (error) => {
      try {
        this.#instrument.settle("step", (end as (error?: unknown) => void)(error));
      } catch (failure) {
        this.#instrument.report("step", failure);
      }
    };
  }

  response(status: number, headers: ResponseHeaders): void {
    try {
      this.#instrument.settle("response", this.#observation.response?.(status, headers));
    } catch (error) {
      this.#instrument.report("response", error);
    }
  }

  end(error: unknown): void {
    try {
      this.#instrument.settle("end", this.#observation.end?.(error));
    } catch (failure) {
      this.#instrument.report("end", failure);
    }
  }

  /** Serves the request inside `run` once, even if `run` throws before or after it, or does not call it. */
  run(serve: () => Promise<void>): Promise<void> {
    const calls: Promise<void>[] = [];
    const once = () => {
      if (calls.length === 0) calls.push(serve());
      return calls[0] as Promise<void>;
    };
    try {
      const result: unknown = this.#observation.run?.(once);
      if (calls.length === 0) this.#instrument.settle("run", result);
      else if (result instanceof Promise) void markHandled(result);
    } catch (error) {
      this.#instrument.report("run", error);
    }
    return once();
  }
}
