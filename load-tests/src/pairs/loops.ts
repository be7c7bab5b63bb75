/** Loads a server as fast as it responds. @module */

/** A connection that sends one request at a time. */
export interface Line {
  /** Called with each right response. */
  onAnswer: () => void;
  /** Called if a response is wrong, or the connection ends. */
  onFault: (fault: string) => void;
  send(): void;
}

/** A server that is not done by then has hung. */
const MAX_MS = 30_000;

/**
 * A closed loop of so many requests, over all connections together.
 *
 * @throws Error if a response is wrong, a connection ends, or the server hangs.
 */
export function sendMany(lines: readonly Line[], requests: number): Promise<void> {
  let sent = 0;
  let answered = 0;
  return new Promise((resolve, reject) => {
    const fail = (fault: string): void => {
      clearTimeout(timer);
      for (const line of lines) line.onAnswer = () => {}; // no more requests are sent
      reject(new Error(fault));
    };
    const timer = setTimeout(fail, MAX_MS, `not all responses arrived within ${MAX_MS / 1_000} s`);
    const sendNext = (line: Line): void => {
      if (sent === requests) return;
      sent++;
      line.send();
    };
    for (const line of lines) {
      line.onFault = fail;
      line.onAnswer = () => {
        if (++answered < requests) return sendNext(line);
        clearTimeout(timer);
        resolve();
      };
      sendNext(line);
    }
  });
}
