/** The last requests of an application and their steps, as the inspector shows them. @module */
import {
  type Fault,
  type HTTPScope,
  type Instrumentation,
  type Observation,
  RequestValidationError,
  type WebSocketScope,
} from "tsgi";
import { Deferred, errorText } from "tsgi/internals";
import type { HandlerNames } from "../declared-names.js";
import { type SourceFrame, sourceFramesOf } from "./source-frames.js";

/** A part of a request's work. Times are milliseconds since the request began. */
export interface RecordedStep {
  readonly kind: string;
  readonly name: string;
  readonly startMs: number;
  /** `null` while it runs. */
  endMs: number | null;
  error: string | null;
}

/** A request or a WebSocket, as the page shows it. Headers, query and body are not stored. */
export interface Recorded {
  readonly id: number;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly method: string;
  readonly path: string;
  /** The pattern of the route; `null` if no route matched. */
  route: string | null;
  /** The name of the handler. */
  handler: string | null;
  /** `null` before the head of the response. */
  status: number | null;
  /** `null` while it runs. */
  durationMs: number | null;
  /** The error that the application did not expect. */
  error: string | null;
  /** The places in the application's source from which it was thrown. */
  frames: readonly SourceFrame[];
  /** The validation errors, without the values. */
  faults: readonly { readonly loc: string; readonly type: string; readonly msg: string }[];
  readonly steps: RecordedStep[];
}

/** The number of requests that are kept. */
const KEPT = 100;

/** The number of steps that are kept of a request: a stream may have one for each task that it adds. */
const MAX_STEPS = 100;

/** Characters of a path or an error that are kept: a URL may have thousands. */
const MAX_LENGTH = 300;

/** Keeps the last requests of an application, with a version that grows with each change. */
export class Recorder implements Instrumentation {
  /** The names of anonymous handlers. */
  names: HandlerNames = new Map();
  readonly #kept = new Map<Recorded, number>();
  #version = 0;
  #count = 0;
  #change = new Deferred<void>();

  /** The number of changes so far. */
  get version(): number {
    return this.#version;
  }

  /** Takes over the requests of the process before this one. Those that had not ended have ended with it. */
  restore(requests: readonly Recorded[]): void {
    for (const recorded of requests) {
      const { startedAt, durationMs } = recorded;
      if (durationMs === null) {
        recorded.durationMs = Date.now() - Date.parse(startedAt);
        recorded.error = "The process has ended.";
      }
      this.#count = Math.max(this.#count, recorded.id);
      this.#keep(recorded);
    }
  }

  /** The requests that have changed behind a version, the oldest first. */
  since(version: number): Recorded[] {
    return [...this.#kept].flatMap(([recorded, changed]) => (changed > version ? [recorded] : []));
  }

  /** Resolves after the next change behind a version, `pauseMs` later at the earliest, or with the end of `signal`. */
  async changed(version: number, pauseMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const ended = new Deferred<void>();
    const end = () => ended.resolve();
    signal.addEventListener("abort", end, { once: true });
    const timer = setTimeout(() => {
      if (this.#version > version) end();
      else void this.#change.promise.then(end);
    }, pauseMs);
    await ended.promise;
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }

  start(scope: HTTPScope | WebSocketScope): Observation {
    const startedAt = performance.now();
    const elapsed = () => Math.round((performance.now() - startedAt) * 1_000) / 1_000;
    const recorded = this.#record(scope);
    return {
      route: (pattern, name) => {
        recorded.route = pattern;
        recorded.handler = this.names.get(name) ?? name;
      },
      step: (kind, name) => {
        const shown = this.names.get(name) ?? name;
        const step: RecordedStep = { kind, name: shown, startMs: elapsed(), endMs: null, error: null };
        if (recorded.steps.length < MAX_STEPS) recorded.steps.push(step);
        return (error) => {
          step.endMs = elapsed();
          if (error === undefined) return;
          step.error = describe(error);
          // Each validation that fails has the errors of the ones before it too.
          if (error instanceof RequestValidationError) recorded.faults = error.errors.map(withoutValue);
        };
      },
      response: (status) => {
        recorded.status = status;
        this.#touch(recorded);
      },
      end: (error) => {
        recorded.durationMs = elapsed();
        if (error !== undefined) {
          recorded.error = describe(error);
          recorded.frames = sourceFramesOf(error);
        }
        this.#touch(recorded);
      },
    };
  }

  #record(scope: HTTPScope | WebSocketScope): Recorded {
    const recorded: Recorded = {
      id: ++this.#count,
      startedAt: new Date().toISOString(),
      method: scope.type === "http" ? scope.method : "WEBSOCKET",
      path: scope.path.slice(0, MAX_LENGTH),
      route: null,
      handler: null,
      status: null,
      durationMs: null,
      error: null,
      frames: [],
      faults: [],
      steps: [],
    };
    this.#keep(recorded);
    return recorded;
  }

  #keep(recorded: Recorded): void {
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= KEPT && oldest !== undefined) this.#kept.delete(oldest);
    this.#touch(recorded);
  }

  #touch(recorded: Recorded): void {
    if (recorded.id <= this.#count - KEPT) return;
    this.#kept.set(recorded, ++this.#version);
    this.#change.resolve();
    this.#change = new Deferred();
  }
}

function withoutValue({ loc, type, msg }: Fault): Recorded["faults"][number] {
  return { loc: loc.join("."), type, msg };
}

function describe(error: unknown): string {
  return errorText(error).slice(0, MAX_LENGTH);
}
