/** A free port, agreed on with the person at the terminal. @module */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline/promises";
import { promisify } from "node:util";
import { SERVER_START } from "tsgi/internals";
import { ServerStartError } from "tsgi/node";

/** Ports after the one in use that are tried. */
const TRIES = 20;

/** The input and the output of a question. */
interface Dialog {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/**
 * The port to serve on: the requested one if it is free, otherwise the next free one if the person at the terminal
 * agrees. Every other reason for which it cannot be listened on is left to the server to report.
 *
 * @throws ServerStartError naming the process that listens there, and the next free port
 */
export async function choosePort(
  { host, port }: { readonly host: string; readonly port: number },
  terminal: Dialog = process,
): Promise<number> {
  if (port === 0 || !(await isInUse(host, port))) return port;
  const next = await findFree(host, port + 1);
  const listener = await findListener(port);
  const taken = `Port ${port} on ${host} is in use${listener === null ? "" : ` by ${listener}`}.`;
  const canAsk = terminal.stdin.isTTY && terminal.stderr.isTTY;
  if (next !== null && canAsk && (await agrees(`${taken} Take ${next}? (Y/n) `, terminal))) return next;
  const way = next === null ? "choose another port" : `take the next free one: --port ${next}, or PORT=${next}`;
  throw new ServerStartError("EADDRINUSE", SERVER_START["EADDRINUSE.dev"](taken, way));
}

async function agrees(question: string, { stdin, stderr }: Dialog): Promise<boolean> {
  const terminal = createInterface({ input: stdin, output: stderr });
  const answer = new Promise<string>((resolve) => {
    terminal.once("SIGINT", () => resolve("n"));
    terminal.once("close", () => resolve("n"));
    void terminal.question(question).then(resolve, () => resolve("n"));
  });
  const isYes = /^\s*(?:y(?:es)?)?\s*$/i.test(await answer);
  terminal.close();
  return isYes;
}

async function findFree(host: string, first: number): Promise<number | null> {
  for (let port = first; port < first + TRIES && port <= 65_535; port++) {
    if (!(await isInUse(host, port))) return port;
  }
  return null;
}

async function isInUse(host: string, port: number): Promise<boolean> {
  const probe = createServer();
  try {
    await once(probe.listen(port, host), "listening");
    return false;
  } catch (error) {
    return typeof error === "object" && error !== null && "code" in error && error.code === "EADDRINUSE";
  } finally {
    probe.close();
  }
}

/** `node server.js (process 4242)`, or `null` where the system does not tell, as of another user's processes. */
async function findListener(port: number): Promise<string | null> {
  try {
    const pid = process.platform === "linux" ? await askSs(port) : await askLsof(port);
    return pid === undefined ? null : `${await commandOf(pid)} (process ${pid})`;
  } catch {
    return null;
  }
}

const run = promisify(execFile);

async function askSs(port: number): Promise<string | undefined> {
  const { stdout } = await run("ss", ["-ltnpH", `sport = :${port}`]);
  return /\bpid=(\d+)/.exec(stdout)?.[1];
}

async function askLsof(port: number): Promise<string | undefined> {
  const { stdout } = await run("lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-t"]);
  return /^\d+/.exec(stdout)?.[0];
}

/** Characters of a command line that are shown. */
const SHOWN = 60;

async function commandOf(pid: string): Promise<string> {
  const { stdout } = await run("ps", ["-o", "args=", "-p", pid]);
  // oxlint-disable-next-line no-control-regex -- A name in the terminal must not move the cursor.
  const command = stdout.trim().replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "?");
  return command.length > SHOWN ? `${command.slice(0, SHOWN)}…` : command;
}
