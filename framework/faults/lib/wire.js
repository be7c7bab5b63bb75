/** A raw kept-alive connection, whose responses are read one by one. */
import { connect } from "node:net";

export class Wire {
  received = "";
  #wake = () => {};

  constructor(port, host = "127.0.0.1") {
    this.socket = connect({ port, host });
    this.socket.setNoDelay(true);
    this.socket.on("data", (chunk) => {
      this.received += chunk.toString("latin1");
      this.#wake();
    });
    this.socket.on("error", () => {});
    this.closed = new Promise((resolve) => {
      this.socket.once("close", () => {
        this.#wake();
        resolve(this.received);
      });
    });
  }

  write(text) {
    this.socket.write(text, "latin1");
    return this;
  }

  /** Waits for the pattern. Rejects when the connection closes before that. */
  async until(pattern) {
    while (!pattern.test(this.received)) {
      if (this.socket.closed) throw new Error(`closed before ${pattern}`);
      await new Promise((resolve) => (this.#wake = resolve));
    }
    return this.received;
  }

  /** Sends a request and returns its whole response, with a `Content-Length`. */
  async ask(path) {
    this.received = "";
    this.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const head = await this.until(/\r\n\r\n/);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const start = head.indexOf("\r\n\r\n") + 4;
    await this.until(new RegExp(`^[^]{${start + length}}`));
    return this.received;
  }

  destroy() {
    this.socket.destroy();
  }
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until the check holds. Gives whether it did within the time. */
export async function eventually(check, limitMs) {
  const deadline = performance.now() + limitMs;
  for (;;) {
    if (await check()) return true;
    if (performance.now() > deadline) return false;
    await sleep(20);
  }
}

export function percentile(values, share) {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
