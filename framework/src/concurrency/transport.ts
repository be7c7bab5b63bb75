/** A worker as its pool sees it, be it a process or a thread. @module */
import type { Order, Report } from "./protocol.js";

/** What a worker tells its pool. */
export interface WorkerEvents {
  report(report: Report): void;
  /** It is gone, and everything that it said has been reported. Called once. */
  gone(how: string): void;
}

/** A worker that was started. */
export interface WorkerHandle {
  /** @throws when the order cannot be cloned. */
  send(order: Order): void;
  /** Ends it at once, whatever it does. */
  kill(): void;
  /** Tells it to end, and ends it at once if it does not. `gone` is called when it has. */
  stop(): void;
}

/** Starts a worker. It does not keep this process alive. */
export type Spawn = (events: WorkerEvents) => WorkerHandle;

/** Milliseconds that an idle worker gets to end by itself. */
export const STOP_MS = 1000;
