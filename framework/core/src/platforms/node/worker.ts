/** The side of a worker: it tells its primary process where it listens, and stops when that asks for it. @module */
import cluster from "node:cluster";
import type { LoopName } from "../concurrency/loop.js";
import { type Closable, stop } from "./signals.js";

/**
 * A message of a worker to the primary process: that it has begun to start a server and can be told to stop, that its next
 * server listens, or that it needs a free port to do so.
 */
export type WorkerMessage =
  | { tsgi: "starting" }
  | { tsgi: "listening"; url: string; loop: LoopName }
  | { tsgi: "port"; server: number; host: string }
  | { tsgi: "echo"; id: number };

/** A message of the primary process to a worker: the port that all workers use for a server, or to drain and end. */
export type PrimaryMessage =
  | { tsgi: "port"; server: number; port: number }
  | { tsgi: "echo"; id: number }
  | { tsgi: "stop" };

/** The variable in which a worker of `serve` finds the process that started it. */
export const PRIMARY_PID = "TSGI_PRIMARY_PID";

/** The relation of this process to a `serve` with workers; `foreign` in another cluster, such as PM2. */
export function workerRole(): "primary" | "worker" | "foreign" {
  if (cluster.isPrimary) return "primary";
  // A program that a worker starts inherits its variables.
  return process.env[PRIMARY_PID] === String(process.ppid) ? "worker" : "foreign";
}

const servers: Closable[] = [];
let calls = 0;
let echoes = 0;

/** The port for the next server of this worker: a free one is the same in all workers. */
export async function sharedPort(host: string, port: number): Promise<number> {
  const server = calls++;
  if (port !== 0) {
    return port;
  }
  tell({ tsgi: "port", server, host });
  return messageFrom((message) => (message.tsgi === "port" && message.server === server ? message.port : null));
}

/**
 * Waits until this worker has given back the connections that the primary process sent to a listener that has closed.
 * Its end would lose them: one echo arrives after the last of them, the other is sent after the returned data.
 */
export async function returnConnections(): Promise<void> {
  for (let echo = 0; echo < 2; echo++) {
    const id = echoes++;
    tell({ tsgi: "echo", id });
    await messageFrom((message) => (message.tsgi === "echo" && message.id === id ? true : null));
  }
}

/** Closes a server, or undoes its startup, when the primary process asks for it. */
export function joinWorkers(server: Closable): void {
  if (servers.push(server) === 1) {
    process.on("message", (message: PrimaryMessage) => {
      if (message.tsgi === "stop") {
        stop(servers);
      }
    });
    process.on("SIGHUP", () => {}); // the primary handles it, and from a terminal it reaches the whole group
  }
  tell({ tsgi: "starting" });
}

/** Tells the primary process that the next server listens. */
export function announce({ url, loop }: { readonly url: string; readonly loop: LoopName }): void {
  tell({ tsgi: "listening", url, loop });
}

/** Waits for a message of the primary process, and returns the value found in it. */
function messageFrom<Value>(find: (message: PrimaryMessage) => Value | null): Promise<Value> {
  return new Promise((resolve) => {
    process.on("message", function onMessage(message: PrimaryMessage) {
      const found = find(message);
      if (found !== null) {
        process.off("message", onMessage);
        resolve(found);
      }
    });
  });
}

function tell(message: WorkerMessage): void {
  cluster.worker?.send(message);
}
