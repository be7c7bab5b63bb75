/** A command in the process of the test. */
import { Writable } from "node:stream";
import { jest } from "@jest/globals";
import { runCommand } from "../src/command.js";
import type { Result } from "../src/program.js";
import { Terminal } from "../src/terminal.js";

/** An output that keeps its text. */
class KeptOutput extends Writable {
  text = "";

  /** @param fd - The descriptor of a file that it stands for. */
  constructor(readonly fd?: number) {
    super();
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

/** The result and the output of a command. */
export interface Ran {
  readonly result: Result;
  readonly stdout: string;
  readonly stderr: string;
}

/** One command at a time: the process has one folder and one environment. */
let last: Promise<unknown> = Promise.resolve();

/** Runs a command in a folder, with this environment. */
export function runInProcess(...call: Parameters<typeof runAlone>): Promise<Ran> {
  const ran = last.then(() => runAlone(...call));
  last = ran.catch(() => {});
  return ran;
}

async function runAlone(folder: string, args: readonly string[], env: NodeJS.ProcessEnv, fd?: number): Promise<Ran> {
  const [stdout, stderr] = [new KeptOutput(fd), new KeptOutput()];
  const before = { folder: process.cwd(), env: process.env };
  const log = jest.spyOn(console, "error").mockImplementation(() => {}); // the lines of a server
  process.chdir(folder);
  process.env = { ...env };
  try {
    const result = await runCommand(args, new Terminal({ stdout, stderr }));
    return { result, stdout: stdout.text, stderr: stderr.text };
  } finally {
    process.chdir(before.folder);
    process.env = before.env;
    log.mockRestore();
  }
}
