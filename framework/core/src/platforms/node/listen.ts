/** The address that a server listens on, and in one line the reason that it cannot. @module */
import { lstat, unlink } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { ServerStartError, serverStartError, toUrl } from "./stoppable-server.js";

/** An address: a Unix socket, or a host and a port. */
export type ListenAddress = { path: string } | { host: string; port: number };

/** Listens. @throws ServerStartError when that is not possible. */
export async function listen(server: Server, address: ListenAddress): Promise<void> {
  try {
    await tryToListen(server, address);
  } catch (error) {
    if (!("path" in address) || codeOf(error) !== "EADDRINUSE" || !(await isAbandoned(address.path))) {
      throw explained(error, address);
    }
    await unlink(address.path);
    await tryToListen(server, address).catch((again: unknown) => {
      throw explained(again, address);
    });
  }
}

/** The address to call a server under: one that listens everywhere is called on loopback. */
export function urlOf(server: Server, scheme: "http" | "https"): string {
  const bound = server.address();
  if (bound === null || typeof bound === "string") {
    return `unix:${bound ?? ""}`;
  }
  return toUrl(scheme, bound.address, bound.port);
}

/** The port, or for 0 a free one. @throws ServerStartError if it is not available. */
export function probePort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error) => reject(explained(error, { host, port })));
    probe.listen(port, host, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : port));
    });
  });
}

function tryToListen(server: Server, address: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(address, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/**
 * Tells if a Unix socket is abandoned: its process ended without removing it. A plain file does not respond either, and
 * is kept.
 */
async function isAbandoned(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null);
  if (stats?.isSocket() !== true) return false;
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      resolve(false);
    });
    probe.once("error", (error) => resolve(codeOf(error) === "ECONNREFUSED"));
  });
}

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "EUNKNOWN";
}

/** The error in one line, with what to do about it. */
export function explained(error: unknown, address: ListenAddress, platform = process.platform): Error {
  const code = codeOf(error);
  const [what, way] =
    "path" in address
      ? [`The socket ${address.path}`, "choose another path"]
      : [`Port ${address.port} on ${address.host}`, "choose another port"];
  const cause = { cause: error };
  switch (code) {
    case "EADDRINUSE":
      return serverStartError("EADDRINUSE.port", [what, way], cause);
    case "EACCES":
      if ("port" in address) return serverStartError("EACCES.port", [what, way], cause);
      return platform === "win32"
        ? serverStartError("EACCES.pipe", [what], cause)
        : serverStartError("EACCES.socket", [what, way], cause);
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return serverStartError(code, [what], cause);
    default:
      return new ServerStartError(code, `${what} cannot be opened: ${String(error)}`, cause);
  }
}
