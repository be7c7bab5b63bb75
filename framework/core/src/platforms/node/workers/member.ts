/** One worker, as the primary process sees it. @module */
import cluster, { type Worker } from "node:cluster";
import { performance } from "../../../common/timers.js";
import { Deferred } from "../../../common/promises.js";
import { type ServerStartError, serverStartError } from "../stoppable-server.js";
import { PRIMARY_PID, type PrimaryMessage, type WorkerMessage } from "../worker.js";

/** The address and the loop of a worker's server. */
type Listening = Extract<WorkerMessage, { tsgi: "listening" }>;

/** The end of a worker. */
export interface Ended {
  /** Status 0, or an end before there was anything to do well. */
  clean: boolean;
  /** `"worker 17: status 1"` or `"worker 17: SIGKILL"`. */
  text: string;
  /** Milliseconds from its start. */
  livedMs: number;
}

/** Gives the port that all workers use for a server. */
export type FindPort = (server: number, host: string) => Promise<number>;

/** A worker process. */
export class Member {
  readonly #worker: Worker = cluster.fork({ [PRIMARY_PID]: String(process.pid) });
  readonly #startedAt = performance.now();
  readonly #servers: Deferred<Listening>[] = [];
  #announced = 0;
  /** `true` once it has something to undo, and listens to messages. */
  #hasBegun = false;
  #end: Ended | null = null;
  /** Settles when the process has ended. */
  readonly ended: Promise<Ended>;
  /** `true` once it was asked to end. */
  leaving = false;

  /** Starts a process. */
  constructor(findPort: FindPort) {
    this.#worker.on("message", (message: WorkerMessage) => {
      if (message.tsgi === "starting") {
        this.#hasBegun = true;
      } else if (message.tsgi === "listening") {
        this.#server(this.#announced++).resolve(message);
      } else if (message.tsgi === "port") {
        const { server, host } = message;
        findPort(server, host).then(
          (port) => this.#tell({ tsgi: "port", server, port }),
          () => this.#tell({ tsgi: "port", server, port: 0 }), // the worker's own attempt reports the problem
        );
      } else {
        this.#tell({ tsgi: "echo", id: message.id });
      }
    });
    this.#worker.on("error", () => {}); // a message to a process that has just ended
    this.ended = new Promise((resolve) => {
      this.#worker.once("exit", (status, signal) => {
        const text = `worker ${this.pid}: ${signal ?? `status ${status}`}`;
        const clean = status === 0 || !this.#hasBegun;
        this.#end = { clean, text, livedMs: performance.now() - this.#startedAt };
        for (const server of this.#servers) {
          server.reject(notListening(text));
        }
        resolve(this.#end);
      });
    });
  }

  get pid(): number {
    return this.#worker.process.pid ?? 0;
  }

  /** Waits until the server of its `index`th `serve` call listens. @throws ServerStartError when it ends before that. */
  listening(index: number): Promise<Listening> {
    return this.#server(index).promise;
  }

  /** Asks it to drain, or to undo its startup, and end. */
  stop(): void {
    this.leaving = true;
    if (this.#hasBegun) this.#tell({ tsgi: "stop" });
    else this.kill();
  }

  /** Ends it at once. */
  kill(): void {
    this.#worker.process.kill("SIGKILL");
  }

  #tell(message: PrimaryMessage): void {
    if (this.#worker.isConnected()) {
      this.#worker.send(message);
    }
  }

  #server(index: number): Deferred<Listening> {
    let server = this.#servers[index];
    if (server === undefined) {
      server = new Deferred();
      server.promise.catch(() => {});
      this.#servers[index] = server;
      if (this.#end !== null) {
        server.reject(notListening(this.#end.text));
      }
    }
    return server;
  }
}

function notListening(text: string): ServerStartError {
  return serverStartError("EWORKER.ended", [text]);
}
