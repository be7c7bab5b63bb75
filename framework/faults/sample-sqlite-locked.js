import { spawn } from "node:child_process";
import { once } from "node:events";
import { demand } from "./lib/outcome.js";
import { Shop } from "./lib/sample.js";

export const fault =
  "the sample application: SQLite locked by another process for 3 s and for 8 s, fifty writes at once";
export const pass = "3 s: all succeed; 8 s: 503 with Retry-After; reads continue meanwhile";

/** The program of the other process. */
const LOCK = `
  import SQLite from "libsql";
  const connection = new SQLite(process.argv[1]);
  connection.exec("BEGIN IMMEDIATE");
  console.log("locked");
  setTimeout(() => connection.exec("COMMIT"), Number(process.argv[2]));
`;

export async function run() {
  const shop = await Shop.open();
  try {
    const figures = [];
    for (const [seconds, writes, status] of [
      [3, 50, 201],
      [8, 10, 503],
    ]) {
      const other = spawn(
        process.execPath,
        ["--input-type=module", "--eval", LOCK, shop.database, `${seconds * 1000}`],
        {
          stdio: ["ignore", "pipe", "inherit"],
          cwd: import.meta.dirname,
        },
      );
      const ended = once(other, "exit");
      await once(other.stdout, "data");
      const writing = Promise.all(Array.from({ length: writes }, (_, index) => shop.addItem(`item ${index}`)));
      const read = await shop.items();
      const isLocked = other.exitCode === null;
      const answers = await writing;
      await ended;
      const alike = answers.filter((answer) => answer.status === status);
      const slowestMs = Math.max(...answers.map(({ ms }) => ms));
      figures.push(
        `${seconds} s: ${alike.length} × ${status} within ${(slowestMs / 1000).toFixed(1)} s, a read in ${Math.round(read.ms)} ms`,
      );
      const isTold = status !== 503 || alike.every(({ retryAfter }) => retryAfter === "1");
      demand(alike.length === writes && read.status === 200 && isLocked && isTold, figures.join("; "));
    }
    return figures.join("; ");
  } finally {
    await shop.close();
  }
}
