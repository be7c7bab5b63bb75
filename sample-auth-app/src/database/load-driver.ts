import type { Driver } from "./driver.js";

/** Gives the driver for a URL. What the other database needs is never loaded. */
export async function loadDriver(url: string): Promise<Driver> {
  return isSQLite(url) ? (await import("./sqlite.js")).sqlite : (await import("./postgresql.js")).postgresql;
}

export function isSQLite(url: string): boolean {
  return url.startsWith("file:");
}
