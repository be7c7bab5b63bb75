import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

const FOLDER = path.resolve(import.meta.dirname, "../../../sample-auth-app");

/** The sample application as it runs in development, with a separate database. */
export interface RunningSample extends AsyncDisposable {
  readonly url: string;
  /** The demo user that the application prints when it starts, unless users log in at an identity provider. */
  readonly username: string;
  readonly password: string;
}

/** Starts the built sample application in a separate process. */
export async function startSample(variables: Readonly<Record<string, string>> = {}): Promise<RunningSample> {
  const server = path.join(FOLDER, "dist/server.js");
  if (!existsSync(server)) throw new Error("The sample application is not built. Run: npm run build");
  const folder = await mkdtemp(path.join(tmpdir(), "tsgi-sample-"));
  const child = spawn(process.execPath, [server], {
    cwd: FOLDER,
    env: {
      PATH: process.env["PATH"],
      PORT: "0",
      NODE_ENV: "development",
      DATABASE_URL: `file:${folder}/dev.db`,
      ...variables,
    },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const closed = once(child, "close");
  const found = { url: "", username: "", password: "" };
  const isStarted = () => found.url !== "" && (found.username !== "" || variables["OIDC_ISSUER"] !== undefined);
  for await (const line of createInterface(child.stdout)) {
    found.url = /^Ready on (\S+),/.exec(line)?.[1] ?? found.url;
    const [, username, password] = /^Demo user: (\S+), password: (\S+)$/.exec(line) ?? [];
    if (username !== undefined && password !== undefined) Object.assign(found, { username, password });
    if (isStarted()) break;
  }
  if (!isStarted()) throw new Error("The sample application has not started.");
  return {
    ...found,
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await closed;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
