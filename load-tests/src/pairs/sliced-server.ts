/** A server that is measured in slices, and the client that loads it. @module */
import { CLIENT_CORE } from "../cores.js";
import { type ServerOptions, type ServerProcess, startServer } from "../http/server-process.js";
import { watchProcessor } from "../processor-time.js";
import type { ClientOptions } from "./slice-client.js";
import { SliceProcess } from "./slice-process.js";
import type { Ready, Sliced } from "./slices.js";

const CLIENT = new URL("slice-client.js", import.meta.url);

/** Reads the processor time of a server around each slice; if the system does not report it, the time by the clock. */
export class SlicedServer implements Sliced {
  readonly #server: ServerProcess;
  readonly #client: SliceProcess;

  private constructor(server: ServerProcess, options: Omit<ClientOptions, "url">) {
    this.#server = server;
    this.#client = new SliceProcess(CLIENT, [JSON.stringify({ ...options, url: server.url })], CLIENT_CORE);
  }

  /** Starts both processes, each on a core. */
  static async start(script: URL, client: Omit<ClientOptions, "url">, options: ServerOptions): Promise<SlicedServer> {
    return new SlicedServer(await startServer(script, options), client);
  }

  ready(): Promise<Ready> {
    return this.#client.ready();
  }

  async slice(row: number, requests: number): Promise<number> {
    await this.#client.slice(row, 0); // opens the connections
    const used = watchProcessor(this.#server.pid);
    const started = performance.now();
    await this.#client.slice(row, requests);
    const seconds = used();
    return seconds === null ? (performance.now() - started) * 1e3 : seconds * 1e6;
  }

  async stop(): Promise<void> {
    await Promise.all([this.#client.stop(), this.#server.stop()]);
  }
}
