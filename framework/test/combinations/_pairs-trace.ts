/** A record of the events in an application. @module */
import type { Instrumentation } from "../../core/src/middleware/observation/types.js";
import { KeptLog } from "../support/kept-log.js";

/** An unexpected error of the application. */
export class Broken extends Error {}

/** Records what happens, in its order. */
export class Trace {
  readonly events: string[] = [];
  readonly log = new KeptLog();
  /** Written by the instrumentation of the outer App. */
  route: string | null = null;
  status: number | null = null;
  isFailure: boolean | null = null;
  readonly push = (event: string): void => void this.events.push(event);

  /** Forgets everything. */
  clear(): void {
    this.events.length = 0;
    this.log.lines.length = 0;
    this.route = null;
    this.status = null;
    this.isFailure = null;
  }

  /** The lines of the log of a level. */
  linesAt(level: "error" | "warn"): readonly string[] {
    return this.log.lines.filter((line) => line.startsWith(`${level} `));
  }

  readonly instrumentation: Instrumentation = {
    start: () => ({
      route: (pattern) => void (this.route = pattern),
      response: (status, headers) => {
        this.status = status;
        headers.set("x-observed", "1");
      },
      end: (error) => void (this.isFailure = error !== undefined),
    }),
  };
}
