import { EntryError, type EntryModule, type PoolEntry, type RouteTable } from "../concurrency.js";

/** How many routes a message names. */
const SHOWN = 3;

/** The module of an App, and how the App is found in it. */
export class PoolModule implements PoolEntry {
  readonly module: EntryModule;
  readonly #own: RouteTable;
  readonly #route: string;

  /**
   * @param module - What workers import; `null` where no module is known.
   * @param own - The App as the server has it.
   * @param route - A route with a plain handler, for messages.
   */
  constructor(module: EntryModule | null, own: RouteTable, route: string) {
    this.module = module ?? { url: "", isNamed: false, main: null };
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
    const { url } = this.module;
    const what = url === "" ? "no module is known that a worker could import" : `its module ${url} ${problem}`;
    const reason = cause instanceof Error ? `: ${cause.name}: ${cause.message}` : "";
    return new EntryError(
      `${this.#route} is a plain function, which runs in a worker of the pool, and ${what}${reason}. Make the handler ` +
        "async, or name the module that makes the App (new App({ entry: import.meta.url })), or keep plain handlers on " +
        'the event loop (new App({ pool: { kind: "inline" } })).',
      { cause },
    );
  }
}

/** How the routes of a worker's App differ from the server's; empty where they do not. */
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
