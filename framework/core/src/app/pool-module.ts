/** The module that workers of the pool import, checked against the application of the server. @module */
import { EntryError } from "../platforms/concurrency/errors.js";
import type { EntryModule, RouteTable } from "../platforms/concurrency/protocol.js";
import type { PoolEntry } from "../platforms/concurrency/worker-pool.js";
import { messageOf } from "../common/error-codes.js";

/** The most routes that a message names. */
const SHOWN = 3;

/** The module of an App, and how the App is found in it. */
export class PoolModule implements PoolEntry {
  readonly module: EntryModule;
  readonly #own: RouteTable;
  readonly #route: string;

  /**
   * @param module - What workers import.
   * @param own - The App as the server has it.
   * @param route - A route with a plain handler, for messages.
   */
  constructor(module: EntryModule, own: RouteTable, route: string) {
    this.module = module;
    this.#own = own;
    this.#route = route;
  }

  find(tables: readonly RouteTable[]): number | string {
    const same = tables.flatMap((table, index) => (difference(this.#own, table) === "" ? [index] : []));
    const [first] = same;
    if (first !== undefined) return same.find((index) => tables[index]?.title === this.#own.title) ?? first;
    const made = tables.filter(({ routes }) => routes.length > 0);
    const nearest = made.find(({ title }) => title === this.#own.title) ?? made[0];
    return nearest
      ? `makes an App with other routes than the server's (${difference(this.#own, nearest)})`
      : "makes no App with routes when it is imported";
  }

  explain(problem: string, cause?: unknown): EntryError {
    const reason = cause instanceof Error ? `: ${cause.name}: ${cause.message}` : "";
    return explainEntry(this.#route, `its module ${this.module.url} ${problem}${reason}`, cause);
  }
}

/** One clear error about a problem with the module of workers, with a route that needs them and the fixes. */
export function explainEntry(route: string, problem: string, cause?: unknown): EntryError {
  return new EntryError(messageOf("TSGI_UNUSABLE_ENTRY.route", route, problem), { cause });
}

/** The difference of a worker's routes from the server's; empty for equal tables. */
function difference(own: RouteTable, other: RouteTable): string {
  const missing = own.routes.filter((route) => !other.routes.includes(route));
  const besides = other.routes.filter((route) => !own.routes.includes(route));
  const parts: string[] = [];
  if (missing.length > 0) parts.push(`without ${list(missing)}`);
  if (besides.length > 0) parts.push(`with ${list(besides)}`);
  return parts.join(", ");
}

function list(routes: readonly string[]): string {
  const shown = routes.slice(0, SHOWN).join(", ");
  return routes.length > SHOWN ? `${shown} and ${routes.length - SHOWN} more` : shown;
}
