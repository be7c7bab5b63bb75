import { spawn } from "node:child_process";
import path from "node:path";

import { jest } from "@jest/globals";

// A program takes its time to start on a machine that is busy.
jest.setTimeout(300_000);

const programFile = (name: string) => path.join(import.meta.dirname, `../../../dist/${name}.js`);

/** Finds the address in a program's output. */
type FindURL = (stdout: string, stderr: string) => string | undefined;

/** The program as `npm start` runs it, in a separate folder. */
export async function startServer(env: Record<string, string>, folder: string, node = process.execPath) {
  const isProduction = env["NODE_ENV"] === "production";
  return startProgram([node, programFile("server")], env, folder, (stdout) => {
    const url = /^Ready on ([^,]+),.*\n/m.exec(stdout)?.[1];
    return isProduction || stdout.includes("Try: ") ? url : undefined;
  });
}

/** The program as `npm run worker` runs it. */
export async function startWorker(env: Record<string, string>, folder: string, node = process.execPath) {
  return startProgram(
    [node, programFile("extras/jobs/worker")],
    env,
    folder,
    (stdout) => /^The worker is ready/m.exec(stdout)?.[0],
  );
}

/** A Node program that serves, in a separate folder. */
export async function startProgram(
  [command, ...parameters]: readonly [string, ...string[]],
  env: Record<string, string>,
  folder: string,
  findURL: FindURL,
) {
  const server = spawn(command, parameters, {
    cwd: folder,
    env: { PATH: process.env["PATH"], PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  const ended = new Promise<number | null>((resolve) => server.on("close", resolve));
  const ready = new Promise<string>((resolve) => {
    const look = () => {
      const url = findURL(stdout, stderr);
      if (url !== undefined) {
        resolve(url);
      }
    };
    server.stdout.on("data", (chunk: Buffer) => ((stdout += chunk.toString()), look()));
    server.stderr.on("data", (chunk: Buffer) => ((stderr += chunk.toString()), look()));
  });
  return {
    ready: Promise.race([ready, ended.then(() => Promise.reject(new Error(`the server ended: ${stderr}`)))]),
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    kill: (signal: NodeJS.Signals) => server.kill(signal),
    [Symbol.asyncDispose]: async () => {
      if (server.exitCode === null) {
        server.kill("SIGKILL");
      }
      await ended;
    },
  };
}

/** A running program. */
export type Program = Awaited<ReturnType<typeof startServer>>;
