/** Several processes that serve one address, and the primary process that keeps them. @module */
import { clearTimeout, setTimeout } from "../../common/timers.js";
import type { Logger } from "../../common/logger.js";
import { NEVER } from "../../common/promises.js";
import { ShutdownTimeoutError } from "../../protocol/shutdown.js";
import { serverStartError, type RunningServer, toRunningServer } from "./stoppable-server.js";
import { probePort } from "./listen.js";
import { isStopping } from "./signals.js";
import { Member, type Ended } from "./workers/member.js";

/** The settings of a group of workers. */
export interface WorkersSettings {
  /** The number of processes that serve. */
  workers: number;
  shutdownTimeoutMs: number;
  logger: Logger;
}

/** A worker that lived for less than this was not well from the start: the next one waits. */
const YOUNG_MS = 5000;
/** Milliseconds before the second replacement of a worker that ends young; doubled each time, up to the longest. */
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 10_000;
/** Milliseconds beyond `shutdownTimeoutMs` after which a worker that blocks is killed: it should have ended itself. */
const KILL_GRACE_MS = 300;

let group: WorkerGroup | null = null;

/** The workers of this process. @throws ServerStartError without a main module for them to run. */
export function workerGroup(settings: WorkersSettings): WorkerGroup {
  if (process.argv[1] === undefined) {
    throw serverStartError("EWORKER.program", []);
  }
  return (group ??= new WorkerGroup(settings));
}

/** The workers of a process. There is one group at most, as each worker runs the whole main module. */
export class WorkerGroup {
  /** Called when all workers have ended: they revert changes that were made for the group. */
  readonly onClosed: (() => void)[] = [() => (group = null)];
  readonly #settings: WorkersSettings;
  readonly #members = new Set<Member>();
  readonly #timers = new Set<NodeJS.Timeout>();
  /** The number of servers that the main module has started so far. */
  #servers = 0;
  /** The free port of each server that is to take one. Found once, as all workers share it. */
  readonly #ports: Promise<number>[] = [];
  #youngDeaths = 0;
  #rolling: Promise<void> | null = null;
  #rollAgain = false;
  #closing: Promise<void> | null = null;
  #isListening = false;
  readonly #onHangUp = () => this.#hangUp();

  constructor(settings: WorkersSettings) {
    this.#settings = settings;
  }

  /**
   * Starts the workers with the first call, and waits until the next server of the main module listens in each. Never settles
   * if the process is told to end meanwhile.
   *
   * @throws ServerStartError when a worker ends before it listens.
   */
  async serve(): Promise<RunningServer> {
    const { workers, logger } = this.#settings;
    const index = this.#servers++;
    // From the first moment on: a SIGHUP without a listener ends the process.
    if (index === 0) process.on("SIGHUP", this.#onHangUp);
    try {
      // One first: a problem with the address or the startup affects all of them, and is logged once.
      if (isStopping()) return await NEVER;
      const first = this.#members.values().next().value ?? this.#fork();
      const place = await first.listening(index);
      if (isStopping()) return await NEVER;
      while (this.#members.size < workers) {
        this.#fork();
      }
      await Promise.all([...this.#members].map((member) => member.listening(index)));
      if (index === 0) {
        for (const member of this.#members) {
          this.#keep(member);
        }
      }
      logger.info({}, `Listening on ${place.url} with ${workers} workers`);
      if (index === 0) {
        this.#isListening = true;
        if (this.#rollAgain) this.#hangUp();
      }
      return toRunningServer(place, () => this.close());
    } catch (error) {
      await this.close().catch(() => {});
      if (isStopping()) return NEVER;
      throw error;
    }
  }

  /** Replaces one worker after the other by one that runs the main module as it is now. */
  roll(): void {
    if (this.#rolling !== null) {
      this.#rollAgain = true;
      return;
    }
    this.#rolling = this.#roll().finally(() => {
      this.#rolling = null;
      if (this.#rollAgain) {
        this.#rollAgain = false;
        this.roll();
      }
    });
  }

  /** A SIGHUP from before the workers listen waits until they do: the first of them may have read the code from before. */
  #hangUp(): void {
    if (process.platform === "win32") return; // there, it means that the console closes
    if (!this.#isListening) {
      this.#rollAgain = true;
      return;
    }
    this.#rollAgain = false;
    this.roll();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  running(): readonly string[] {
    return Array.from(this.#members, ({ pid }) => `worker ${pid}`);
  }

  async #close(): Promise<void> {
    for (const timer of this.#timers) {
      clearTimeout(timer);
    }
    const ended = await Promise.all([...this.#members].map((member) => this.#retire(member)));
    process.off("SIGHUP", this.#onHangUp);
    for (const undo of this.onClosed) undo();
    const faults = ended.filter(({ clean }) => !clean);
    if (faults.length > 0) {
      throw new ShutdownTimeoutError(
        faults.map(({ text }) => text),
        this.#settings.shutdownTimeoutMs,
      );
    }
  }

  #fork(): Member {
    const member = new Member((server, host) => (this.#ports[server] ??= probePort(host, 0)));
    this.#members.add(member);
    void member.ended.then(() => this.#members.delete(member));
    return member;
  }

  /** From here on, another takes its place when it ends by itself. */
  #keep(member: Member): void {
    void member.ended.then((ended) => {
      if (this.#closing === null && !member.leaving) {
        this.#replace(ended);
      }
    });
  }

  #replace({ text, livedMs }: Ended): void {
    this.#youngDeaths = livedMs < YOUNG_MS ? this.#youngDeaths + 1 : 0;
    const delayMs = this.#youngDeaths < 2 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (this.#youngDeaths - 2), MAX_DELAY_MS);
    this.#settings.logger.error({ delayMs }, `A worker ended (${text}). Another takes its place.`);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#keep(this.#fork());
    }, delayMs);
    this.#timers.add(timer);
  }

  async #roll(): Promise<void> {
    const { logger } = this.#settings;
    logger.info({}, "Restarting the workers, one after the other");
    for (const old of Array.from(this.#members)) {
      if (this.#closing !== null) {
        return;
      }
      const fresh = this.#fork();
      try {
        await fresh.listening(this.#servers - 1);
      } catch (err) {
        logger.error({ err }, "A new worker does not start: the other workers continue to run.");
        return;
      }
      this.#keep(fresh);
      await this.#retire(old);
    }
    logger.info({}, "All workers are restarted");
  }

  async #retire(member: Member): Promise<Ended> {
    const timer = setTimeout(() => member.kill(), this.#settings.shutdownTimeoutMs + KILL_GRACE_MS);
    member.stop();
    const ended = await member.ended;
    clearTimeout(timer);
    return ended;
  }
}
