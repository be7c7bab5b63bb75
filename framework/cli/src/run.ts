/** `tsgi run`: serves an application. @module */
import { readFileSync } from "node:fs";
import { ConfigurationError } from "tsgi";
import { closeOnSignals } from "tsgi/internals";
import { type RunningServer, serve, type ServeOptions } from "tsgi/node";
import { CommandError, commandError, commandMessage, EXIT, showError } from "./errors.js";
import { loadServedApp } from "./load-app.js";

/** Serves until SIGTERM or SIGINT, and then shuts down gracefully. Returns when it serves. @throws CommandError for an invalid flag. */
export async function run(module: string | undefined, flags: RunFlags): Promise<RunningServer> {
  const options = toServeOptions(flags);
  const leave = closeOnSignals({ close: () => Promise.resolve(), running: () => [] });
  const { app } = await loadServedApp(module);
  const serving = serve(app, options);
  leave();
  return serving.catch((error: unknown) => {
    throw error instanceof ConfigurationError ? new CommandError(error.code, error.message, EXIT.usage) : error;
  });
}

/** The flags of `tsgi run`, as commander reads them. */
export interface RunFlags {
  host: string;
  port: number;
  socket?: string;
  workers: number;
  loop?: "libuv" | "uwebsockets";
  tlsKey?: string;
  tlsCert?: string;
  http2?: true;
  trustedProxies?: string[];
  clientAddressHeader?: string;
  shutdownTimeout?: number;
}

/** @throws CommandError for flags that do not go together, or a file that cannot be read. */
export function toServeOptions(flags: RunFlags): ServeOptions {
  const { host, port, socket, workers, loop, tlsKey, tlsCert, http2, shutdownTimeout } = flags;
  const { trustedProxies, clientAddressHeader } = flags;
  if ((tlsKey === undefined) !== (tlsCert === undefined)) {
    throw new CommandError(
      "TSGI_INCOMPLETE_TLS",
      commandMessage("TSGI_INCOMPLETE_TLS", tlsKey === undefined ? "--tls-key" : "--tls-cert"),
      EXIT.usage,
    );
  }
  return {
    ...(socket === undefined ? { host, port } : { path: socket }),
    ...(workers > 1 ? { workers } : {}),
    loop,
    http2,
    trustedProxies,
    clientAddressHeader: clientAddressHeader === "" ? undefined : clientAddressHeader, // a variable without a value
    shutdownTimeoutMs: shutdownTimeout,
    ...(tlsKey !== undefined && tlsCert !== undefined
      ? { tls: { key: read(tlsKey, "--tls-key"), cert: read(tlsCert, "--tls-cert") } }
      : {}),
  };
}

function read(file: string, flag: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw commandError("TSGI_UNREADABLE_FILE.flag", flag, file, showError(error));
  }
}
