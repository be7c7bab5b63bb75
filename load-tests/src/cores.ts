/** Gives server and client a core each, where the machine allows it. @module */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";

/** The core of the server, when there are two. */
export const SERVER_CORE = 0;

/** The core of the client that loads it. */
export const CLIENT_CORE = 1;

/** The core of the database: the client's if there are only two. */
export const DATABASE_CORE = availableParallelism() > 2 ? 2 : CLIENT_CORE;

/** True where processes can be bound to cores: Linux with util-linux, and two cores. */
const CAN_PIN = existsSync("/usr/bin/taskset") && availableParallelism() >= 2;

/** A command line that runs on one core, or as it is where processes cannot be bound. */
export function onCore(core: number, command: readonly string[]): string[] {
  return CAN_PIN ? ["/usr/bin/taskset", "--cpu-list", String(core), ...command] : [...command];
}
