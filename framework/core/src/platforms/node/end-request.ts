/** The requests to end this process: signals, and the end of the npm script that started it. @module */
import { clearInterval, setInterval } from "../../common/timers.js";

/** Milliseconds between two checks that the shell of a script still runs. */
const SCRIPT_MS = 250;

/** Not `NodeJS.Signals`: a frontend reads these declarations without the types of Node. */
type EndSignal = "SIGTERM" | "SIGINT" | "SIGBREAK" | "SIGHUP";

/**
 * The signals that ask a process to end. Windows sends SIGBREAK for Ctrl-Break, SIGHUP when the console is closed,
 * and no SIGTERM.
 *
 * @see https://nodejs.org/api/process.html#signal-events
 */
export function endSignals(platform: string = process.platform): readonly EndSignal[] {
  return platform === "win32" ? ["SIGTERM", "SIGINT", "SIGBREAK", "SIGHUP"] : ["SIGTERM", "SIGINT"];
}

/**
 * Calls a function when this process is asked to end, with the signal. Gives the undo. To be called before anything is
 * awaited: a process without these listeners ignores the signals if it is the first of its container.
 */
export function onEndRequest(listener: (signal: EndSignal) => void): () => void {
  const signals = endSignals();
  for (const signal of signals) process.on(signal, listener);
  const leave = watchScript(() => listener("SIGTERM"));
  return () => {
    leave();
    for (const signal of signals) process.off(signal, listener);
  };
}

/**
 * npm runs a script in a shell, and signals only the shell. Most shells end then without passing the signal on, so the
 * process would keep running, and its port in use. A shell that puts a command into the background has ended before
 * the command runs. Windows does not report that a parent has ended, and Deno's tasks have no shell.
 */
function watchScript(onEnd: () => void): () => void {
  if ("Deno" in globalThis || process.env["npm_lifecycle_event"] === undefined) return () => {};
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    onEnd();
  }, SCRIPT_MS);
  timer.unref();
  return () => clearInterval(timer);
}
