import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { demand } from "./lib/outcome.js";
import { Server } from "./lib/server.js";
import { eventually, sleep, Wire } from "./lib/wire.js";

export const fault = "clients that reset at some byte of an upload or a download";
export const pass = "no temporary file, cleanup run, signal aborted, no error logged, descriptors back";

const ROUNDS = 60;

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "tsgi-faults-"));
  const server = await Server.start({}, { env: { TMPDIR: folder } });
  try {
    const first = await new Wire(server.port).ask("/fast");
    demand(first.includes("200"), first);
    await sleep(200);
    const before = server.resources.files;
    const head = "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\n";
    const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n';
    const upload = `${head}Content-Length: 9000000\r\n\r\n${part}${"u".repeat(4_000_000)}`;
    for (let round = 0; round < ROUNDS; round++) {
      const bytes = Math.floor(
        round < 30 ? (round * (head.length + part.length + 60)) / 30 : (upload.length * (round - 29)) / 30,
      );
      const wire = new Wire(server.port);
      await new Promise((resolve) => wire.socket.write(upload.slice(0, Math.max(1, bytes)), "latin1", resolve));
      wire.socket.resetAndDestroy();
    }
    for (let round = 0; round < ROUNDS; round++) {
      const wire = new Wire(server.port).write("GET /download HTTP/1.1\r\nHost: a\r\n\r\n");
      await wire.until(new RegExp(`^[^]{${1 + Math.floor((round * 400_000) / ROUNDS)}}`));
      wire.socket.resetAndDestroy();
    }
    const counts = async () => JSON.parse((await new Wire(server.port).ask("/counts")).split("\r\n\r\n")[1]);
    const isClean = await eventually(async () => (await counts()).cleanedUp === ROUNDS, 3000);
    const { cleanedUp, aborted } = await counts();
    const hasNoFiles = await eventually(
      () =>
        readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length === 0,
      3000,
    );
    const isBack = await eventually(() => server.resources.files <= before + 4, 3000);
    const errors = server.stderr.split("\n").filter((line) => line.includes("ERROR"));
    const figure = `${2 * ROUNDS} resets: ${cleanedUp} cleaned up, ${aborted} aborted, ${errors.length} errors, ${server.resources.files - before} descriptors left`;
    demand(
      isClean && aborted === ROUNDS && hasNoFiles && isBack && errors.length === 0,
      `${figure} ${errors[0] ?? ""}`,
    );
    return figure;
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}
