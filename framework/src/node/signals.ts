/** SIGTERM and SIGINT: drain every server of the process, then end it. @module */

/** What a signal needs of a server. */
export interface Closable {
  /** Drains. Rejects when it did not end well. */
  close(): Promise<void>;
  /** What still runs, for the line that a forced end leaves. */
  running(): readonly string[];
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const;
const servers = new Set<Closable>();
let stopping = false;

/** Closes the server on SIGTERM and SIGINT, and ends the process when all servers have closed. Gives the undo. */
export function closeOnSignals(server: Closable): () => void {
  if (servers.size === 0) {
    for (const signal of SIGNALS) {
      process.on(signal, onSignal);
    }
  }
  servers.add(server);
  return () => {
    servers.delete(server);
    if (servers.size === 0 && !stopping) {
      for (const signal of SIGNALS) {
        process.off(signal, onSignal);
      }
    }
  };
}

function onSignal(signal: NodeJS.Signals): void {
  if (stopping) {
    const running = [...servers].flatMap((server) => server.running());
    end(1, `${signal} again: ended while these still ran: ${running.join(", ") || "nothing known"}.`);
  }
  stopping = true;
  void Promise.allSettled([...servers].map((server) => server.close())).then((results) => {
    const faults = results.filter((result) => result.status === "rejected");
    if (faults.length > 0) {
      end(1, faults.map(({ reason }) => (reason instanceof Error ? reason.message : String(reason))).join("\n"));
    }
    process.exit();
  });
}

function end(status: number, line: string): never {
  process.stderr.write(`${line}\n`);
  process.exit(status);
}
