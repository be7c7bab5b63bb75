/** Slices of work in another process: both ends of the channel to it. @module */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onCore } from "../cores.js";
import type { Ready, Sliced } from "./slices.js";

/** One row of a section, checked and ready to be measured. */
export interface SlicedRow {
  readonly name: string;
  /** Sends requests, or only gets ready for them if their number is 0. @throws Error with the first wrong response. */
  repeat(requests: number): void | Promise<void>;
}

/** The rows of a process. */
export interface SlicedSection {
  readonly rows: readonly SlicedRow[];
  /** The wrong responses of its check, in one line each. */
  readonly faults: readonly string[];
}

interface SliceRequest {
  readonly row: number;
  readonly requests: number;
}

/** The processor time of a slice, or its error. */
type Slice = { readonly usedUs: number } | { readonly fault: string };

/** Called in the other process: makes the requests of each slice that its parent asks for, and ends with its parent. */
export function serveSlices({ rows, faults }: SlicedSection): void {
  const serve = async ({ row, requests }: SliceRequest): Promise<Slice> => {
    const before = process.cpuUsage();
    try {
      await rows[row]?.repeat(requests);
    } catch (error) {
      return { fault: error instanceof Error ? error.message : String(error) };
    }
    const { user, system } = process.cpuUsage(before);
    return { usedUs: user + system };
  };
  process.on("message", (request: SliceRequest) => void serve(request).then((slice) => process.send?.(slice)));
  process.once("disconnect", () => process.exit());
  process.send?.({ names: rows.map(({ name }) => name), faults } satisfies Ready);
}

/** A process that calls {@link serveSlices}. */
export class SliceProcess implements Sliced {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;
  readonly #ready: Promise<Ready>;

  constructor(script: URL, args: readonly string[], core: number, nodeArguments: readonly string[] = []) {
    const line = [process.execPath, ...nodeArguments, fileURLToPath(script), ...args];
    const [command = "", ...rest] = onCore(core, line);
    this.#child = spawn(command, rest, {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      env: { ...process.env, NODE_ENV: "production" },
    });
    this.#ended = once(this.#child, "exit").then(([code]: unknown[]) => {
      throw new Error(`A measuring process ended with ${String(code)}.`);
    });
    this.#ready = this.#next();
    // Both are reported to the code that awaits a message.
    this.#ended.catch(() => {});
    this.#ready.catch(() => {});
  }

  ready(): Promise<Ready> {
    return this.#ready;
  }

  async slice(row: number, requests: number): Promise<number> {
    this.#child.send({ row, requests } satisfies SliceRequest);
    const slice = await this.#next<Slice>();
    if ("fault" in slice) throw new Error(slice.fault);
    return slice.usedUs;
  }

  async stop(): Promise<void> {
    this.#child.kill();
    await this.#ended.catch(() => {});
  }

  async #next<Message>(): Promise<Message> {
    const [message] = (await Promise.race([once(this.#child, "message"), this.#ended])) as [Message];
    return message;
  }
}
