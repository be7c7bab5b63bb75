import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "@jest/globals";

const withTime = process.env["TSGI_SLOW"] === undefined ? describe.skip : describe;

const COUNT = 10_000;

interface Measured {
  open: number;
  alive: number;
  bytesOpen: number;
  bytesUsed: number;
}

async function run(server: "ws" | "tsgi"): Promise<Measured> {
  const script = path.join(import.meta.dirname, "_idle-websockets.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", script, server, String(COUNT)]);
  return JSON.parse(stdout) as Measured;
}

/** The smaller of two: memory that a process keeps for a moment is included by chance. */
async function measure(server: "ws" | "tsgi"): Promise<Measured> {
  const [one, two] = [await run(server), await run(server)];
  for (const measured of [one, two]) expect(measured).toMatchObject({ open: COUNT, alive: COUNT });
  return one.bytesUsed < two.bytesUsed ? one : two;
}

withTime("10,000 WebSockets (only with TSGI_SLOW=1)", () => {
  it("are alive, in at most twice the memory of bare ws", async () => {
    const bare = await measure("ws");
    const ours = await measure("tsgi");
    expect(ours.bytesOpen).toBeLessThan(2 * bare.bytesOpen);
    expect(ours.bytesUsed).toBeLessThan(2 * bare.bytesUsed);
  });
});
