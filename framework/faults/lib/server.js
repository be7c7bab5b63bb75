/** A server in a separate process: `app.js` with options for `serve`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export class Server {
  stdout = "";
  stderr = "";
  #child;
  #listeners = new Set();

  /**
   * Starts `file` of this folder with `options` for `serve`, and waits until it says where it listens.
   *
   * @param settings.ready - Finds the address in its output.
   */
  static async start(
    options = {},
    { file = "app.js", env = {}, args = [], ready = /^url (\S+)$/m, command = process.execPath } = {},
  ) {
    const server = new Server();
    server.#child = spawn(command, [...args, path.resolve(import.meta.dirname, file), JSON.stringify(options)], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    const kill = () => server.kill("SIGKILL"); // processes that a fault injection does not end in time
    process.once("exit", kill);
    server.exited = once(server.#child, "close").then(([status, signal]) => {
      process.off("exit", kill);
      return { status, signal };
    });
    for (const name of ["stdout", "stderr"]) {
      server.#child[name].on("data", (chunk) => {
        server[name] += chunk.toString();
        for (const listener of server.#listeners) listener();
      });
    }
    server.exited.then(() => server.#listeners.forEach((listener) => listener()));
    const [, url] = await server.said(ready);
    server.url = url;
    server.port = Number(new URL(url).port);
    return server;
  }

  /** Starts one that is expected to end at once. */
  static run(options, settings) {
    return Server.start(options, settings).catch((error) => error.server);
  }

  get pid() {
    return this.#child.pid;
  }

  /** Waits until the output holds the pattern. */
  async said(pattern, stream = "stdout") {
    for (;;) {
      const match = pattern.exec(this[stream]);
      if (match) return match;
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        throw Object.assign(new Error(`The server ended: ${this.stderr || this.stdout}`), { server: this });
      }
      await new Promise((resolve) => {
        const listener = () => {
          this.#listeners.delete(listener);
          resolve();
        };
        this.#listeners.add(listener);
      });
    }
  }

  kill(signal = "SIGTERM") {
    this.#child.kill(signal);
  }

  /** The current resources of its process. */
  get resources() {
    const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
    return {
      rssMiB: Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024,
      files: readdirSync(`/proc/${this.pid}/fd`).length,
    };
  }

  async stop() {
    this.kill("SIGKILL");
    await this.exited;
  }
}
