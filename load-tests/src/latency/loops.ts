/** Loads a server as fast as it answers, and on a schedule. @module */
import { watchProcessor } from "../processor-time.js";

/** A connection that sends one request at a time. */
export interface Line {
  /** Called with each right answer. */
  onAnswer: () => void;
  /** Called when an answer is wrong, or the connection ends. */
  onFault: (fault: string) => void;
  send(): void;
}

/** A server that is not done so long after the last request was due has hung. */
const MAX_MS = 30_000;

/** The rate at which a server answers when each connection sends its next request at once. */
export interface Saturation {
  readonly perSecond: number;
  /** Processor time of this process and of the server's, as a share of one core. */
  readonly clientLoad: number;
  readonly serverLoad?: number;
}

/** Latencies and the client's own lateness in milliseconds, sorted. */
export interface Latencies {
  readonly latencies: Float64Array;
  /** From the time that a request was due, and a connection free for it, to the time that it was sent. */
  readonly lateness: Float64Array;
  readonly reachedPerSecond: number;
}

/** A closed loop: sends the next request on each connection when its answer has come. */
export async function saturate(lines: readonly Line[], seconds: number, serverPid: number): Promise<Saturation> {
  const client = process.cpuUsage();
  const serverUsed = watchProcessor(serverPid);
  const started = performance.now();
  const until = started + seconds * 1_000;
  let answered = 0;
  let open = lines.length;
  await untilDone(lines, seconds * 1_000, (done) => {
    for (const line of lines) {
      line.onAnswer = () => {
        answered++;
        if (performance.now() < until) line.send();
        else if (--open === 0) done();
      };
      line.send();
    }
  });
  const took = (performance.now() - started) / 1_000;
  const { user, system } = process.cpuUsage(client);
  const serverSeconds = serverUsed();
  return {
    perSecond: answered / took,
    clientLoad: (user + system) / 1e6 / took,
    ...(serverSeconds === null ? {} : { serverLoad: serverSeconds / took }),
  };
}

/** A closed loop of so many requests, over all connections together. */
export async function sendMany(lines: readonly Line[], requests: number): Promise<void> {
  let sent = 0;
  let answered = 0;
  await untilDone(lines, 0, (done) => {
    const sendNext = (line: Line): void => {
      if (sent === requests) return;
      sent++;
      line.send();
    };
    for (const line of lines) {
      line.onAnswer = () => {
        if (++answered === requests) done();
        else sendNext(line);
      };
      sendNext(line);
    }
  });
}

/**
 * An open loop: sends requests at a constant rate, whether answers come or not. A request that finds no connection free is
 * sent when there is one. Its latency counts from the time that it was scheduled for: a stall of the server delays all
 * requests that were due in it (coordinated omission).
 */
export async function keepSchedule(
  lines: readonly Line[],
  ratePerSecond: number,
  count: number,
  clock: () => number = () => performance.now(),
): Promise<Latencies> {
  const latencies = new Float64Array(count);
  const lateness = new Float64Array(count);
  const started = clock();
  const free = lines.map((line) => ({ line, since: started }));
  const gap = 1_000 / ratePerSecond;
  let sent = 0;
  let answered = 0;
  let isOver = false;
  await untilDone(lines, count * gap, (done) => {
    const sendDue = (): void => {
      while (sent < count) {
        const scheduled = started + sent * gap;
        const now = clock();
        const next = scheduled <= now ? free.shift() : undefined;
        if (next === undefined) return;
        const { line, since } = next;
        lateness[sent++] = now - Math.max(scheduled, since);
        line.onAnswer = () => {
          const answeredAt = clock();
          latencies[answered++] = answeredAt - scheduled;
          free.push({ line, since: answeredAt });
          if (answered === count) done();
          else sendDue();
        };
        line.send();
      }
    };
    // Timers fire at whole milliseconds: only a loop that never sleeps is in time.
    const poll = (): void => {
      sendDue();
      if (sent < count && !isOver) setImmediate(poll);
    };
    poll();
  }).finally(() => (isOver = true));
  const reachedPerSecond = count / ((clock() - started) / 1_000);
  return { latencies: latencies.toSorted(), lateness: lateness.toSorted(), reachedPerSecond };
}

/** The figure below which a share of the sorted figures lies (nearest rank). */
export function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/**
 * Waits for `done`.
 *
 * @param lastDueMs - The time until the last request is due.
 * @throws Error when an answer is wrong, a connection ends, or the server hangs.
 */
function untilDone(lines: readonly Line[], lastDueMs: number, begin: (done: () => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (fault: string): void => {
      clearTimeout(timer);
      for (const line of lines) line.onAnswer = () => {}; // nothing is sent any more
      reject(new Error(fault));
    };
    const missing = `not all answers came within ${MAX_MS / 1_000} s of the last request`;
    const timer = setTimeout(fail, lastDueMs + MAX_MS, missing);
    for (const line of lines) line.onFault = fail;
    begin(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
