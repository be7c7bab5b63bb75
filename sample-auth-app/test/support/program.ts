import { spawn } from "node:child_process";
import path from "node:path";

const SERVER = path.join(import.meta.dirname, "../../dist/server.js");

/** The program as `npm start` runs it, in a folder of its own. */
export async function startServer(env: Record<string, string>, folder: string) {
  const server = spawn(process.execPath, [SERVER], {
    cwd: folder,
    env: { PATH: process.env["PATH"], PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  server.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  server.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => server.on("close", resolve));
  const ready = new Promise<string>((resolve) =>
    server.stdout.on("data", () => {
      const url = /^Ready on ([^,]+),.*\n/m.exec(stdout)?.[1];
      const isComplete = env["NODE_ENV"] === "production" || stdout.includes("Try: ");
      if (url !== undefined && isComplete) {
        resolve(url);
      }
    }),
  );
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
