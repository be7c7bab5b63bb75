/** The end of a process that serves: on a signal, or when its primary process asks for it. @module */
import { performance } from "../../common/timers.js";
import { oneLine } from "../../common/logger.js";
import { onEndRequest } from "./end-request.js";

/** The parts of a server that the end of the process uses. */
export interface Closable {
  /** Drains. Rejects when it did not end well. */
  close(): Promise<void>;
  /** The work that still runs, for the log entry of a forced end. */
  running(): readonly string[];
}

/**
 * Milliseconds in which a further signal is an echo of the first. A terminal signals every process of its group,
 * systemd every process of the unit, and npm forwards its signals: under `npm start`, one Ctrl-C arrives twice.
 */
const ECHO_MS = 500;

/** They close at the end of the process: servers, and work before them, such as the import of a program. */
const servers = new Set<Closable>();
let leave: () => void = () => {};
let signalledAt: number | null = null;
let stopping = false;

/** A server that is being made: it closes once it is made. */
export function whenMade(making: Promise<Closable>): Closable {
  let server: Closable | null = null;
  making.then(
    (made) => (server = made),
    () => {},
  );
  return {
    close: async () => (await making).close(),
    running: () => server?.running() ?? ["serve()"],
  };
}

/** Tells if the process is about to end. */
export function isStopping(): boolean {
  return stopping;
}

/**
 * Closes the server when the process is asked to end, and ends the process when all servers have closed. Gives the undo.
 * To be called before anything is awaited, as `onEndRequest`.
 */
export function closeOnSignals(server: Closable): () => void {
  if (servers.size === 0) leave = onEndRequest(onSignal);
  servers.add(server);
  return () => {
    servers.delete(server);
    if (servers.size === 0 && !stopping) leave();
  };
}

/** Drains these servers, and those that signals close, then ends the process. A second signal is ignored. */
export function stop(others: readonly Closable[] = []): void {
  if (stopping) {
    return;
  }
  stopping = true;
  const closing = [...new Set([...servers, ...others])].map((server) => server.close());
  void Promise.allSettled(closing).then((results) => {
    const faults = results.filter((result) => result.status === "rejected");
    if (faults.length > 0) {
      const texts = faults.map(({ reason }) => (reason instanceof Error ? reason.message : String(reason)));
      end(1, [...new Set(texts)].join("\n"));
    }
    process.exit();
  });
}

function onSignal(signal: NodeJS.Signals): void {
  if (signalledAt !== null) {
    if (performance.now() - signalledAt < ECHO_MS) return;
    const running = [...servers].flatMap((server) => server.running());
    end(1, `${signal} again: ended while these still ran: ${running.map(oneLine).join(", ") || "unknown work"}.`);
  }
  signalledAt = performance.now();
  stop();
}

function end(status: number, line: string): never {
  process.stderr.write(`${line}\n`);
  process.exit(status);
}
