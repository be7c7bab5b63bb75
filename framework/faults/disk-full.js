import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { demand, Skipped } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { eventually } from "./lib/wire.js";

export const fault = "a disk that is full during an upload (a tmpfs of 3 MiB)";
export const pass = "500 or 507 in JSON, no file left, the next small upload works";

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "tsgi-full-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", folder], { stdio: "pipe" });
  } catch (error) {
    rmdirSync(folder);
    throw new Skipped(`a tmpfs cannot be mounted here: ${String(error.stderr).trim()}`);
  }
  const server = await Server.start({}, { env: { TMPDIR: folder } });
  try {
    const send = async (bytes) => {
      const form = new FormData();
      form.set("file", new Blob([Buffer.alloc(bytes, "x")]), "f");
      const answer = await fetch(`${server.url}/upload`, { method: "POST", body: form });
      return [answer.status, await answer.json()];
    };
    const [status, body] = await send(8 << 20);
    const isEmpty = await eventually(
      () => readdirSync(folder, { recursive: true, withFileTypes: true }).every((entry) => !entry.isFile()),
      2000,
    );
    const [next, { size }] = await send(2 << 20);
    const figure = `${status} ${JSON.stringify(body)}, then ${next}`;
    demand([500, 507].includes(status) && isEmpty && next === 200 && size === 2 << 20, figure);
    return figure;
  } finally {
    await server.stop();
    execFileSync("umount", [folder]);
    rmdirSync(folder);
  }
}
