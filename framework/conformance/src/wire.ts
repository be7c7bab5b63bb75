/** One connection of a client, read in lines and in bytes. @module */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { TextHeaders } from "./bytes.js";

/** Status and header lines, as they were read. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: TextHeaders;
}

/** A connection over TCP. */
export class Wire {
  readonly socket: Socket;
  #bytes: Buffer = Buffer.alloc(0);
  #isOver = false;
  #wake: (() => void) | null = null;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      this.#wake?.();
    });
    const over = (): void => {
      this.#isOver = true;
      this.#wake?.();
    };
    socket.on("end", over);
    socket.on("close", over);
    socket.on("error", over);
  }

  /** Connects to the server at an address. */
  static async open(url: URL): Promise<Wire> {
    const socket = connect({ host: url.hostname, port: Number(url.port) });
    await once(socket, "connect");
    return new Wire(socket);
  }

  write(data: string | Uint8Array): void {
    if (this.socket.writable) this.socket.write(data);
  }

  /** Waits until more has come. Returns `false` if no more data arrives. */
  async #more(): Promise<boolean> {
    if (this.#isOver) return false;
    const { length } = this.#bytes;
    await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#bytes.length > length || !this.#isOver;
  }

  /** @throws Error when the connection ends before. */
  async read(length: number): Promise<Buffer> {
    while (this.#bytes.length < length) {
      if (!(await this.#more())) throw new Error("The connection ended in the middle of a message.");
    }
    return this.#take(length);
  }

  /** The bytes that have come, at most so many; `null` at the end of the connection. */
  async readSome(length: number): Promise<Buffer | null> {
    while (this.#bytes.length === 0) {
      if (!(await this.#more())) return null;
    }
    return this.#take(Math.min(length, this.#bytes.length));
  }

  /** A line without its end. @throws Error when the connection ends before. */
  async readLine(): Promise<string> {
    for (;;) {
      const at = this.#bytes.indexOf("\r\n");
      if (at >= 0) return this.#take(at + 2).toString("latin1", 0, at);
      if (!(await this.#more())) throw new Error("The connection ended in the middle of a line.");
    }
  }

  /** The head of the next response that is not informational; 101 is given. */
  async readHead(): Promise<ResponseHead> {
    const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(await this.readLine())?.[1] ?? Number.NaN);
    const headers: [name: string, value: string][] = [];
    for (let line = await this.readLine(); line !== ""; line = await this.readLine()) {
      const colon = line.indexOf(":");
      headers.push([line.slice(0, colon), line.slice(colon + 1).trim()]);
    }
    return status >= 100 && status < 200 && status !== 101 ? this.readHead() : { status, headers };
  }

  #take(length: number): Buffer {
    const taken = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return taken;
  }
}
