/**
 * Plain handlers and pools.
 *
 * See [concurrency.md](concurrency.md).
 * @module
 */

export const POOLS = {
  /**
   * The platform has no files, no processes or no compression, and a part of the application needs them.
   *
   * A web runtime such as Cloudflare Workers lacks what these modules of Node stand for: see [web.md](web.md#platform-limitations).
   */
  TSGI_MISSING_PLATFORM_MODULE: (user: string, module: string) =>
    `${user} needs ${module}, a module of Node that this platform lacks. Leave it out here, or serve the ` +
    "application by Node, Bun or Deno.",
  /**
   * The module for a worker is named by something else than a URL or an absolute path.
   *
   * A relative path would mean another file in each working directory.
   *
   * ```js
   * // Wrong
   * new App({ entry: "./app.js" }).get("/sum", () => 1);
   *
   * // Right
   * new App({ entry: import.meta.url }).get("/sum", () => 1);
   * ```
   */
  TSGI_INVALID_MODULE_URL: (text: unknown) =>
    `A worker imports a module by its URL, not ${JSON.stringify(text)}. Write import.meta.url, or new URL(` +
    `${JSON.stringify(text)}, import.meta.url).`,
  /**
   * A pool of your own was to start a worker, and a bundler has put `tsgi` into the file of the application, or into an
   * executable.
   *
   * The pool of an App works there: it starts the application as a worker. A `ProcessPool`, a `ThreadPool`, `runInProcess`
   * and `runInThread` need the file of `tsgi` that a worker runs. Keep the package out of the bundle, such as with
   * `esbuild --packages=external`.
   */
  TSGI_BUNDLED_POOL:
    "A pool cannot start workers here: the program of its workers is a file of the package tsgi, which is bundled. Keep " +
    "tsgi out of the bundle (esbuild --external:tsgi), or do the work in a handler that is not async.",
  /**
   * A worker of a pool was to start workers itself.
   *
   * A module is imported by each worker: one that starts workers would go on for ever.
   */
  TSGI_POOL_IN_A_WORKER:
    "A worker cannot start workers of its own. Call the pool from an async handler or from the program, and " +
    "keep what the workers call in a module of its own that starts nothing.",
  /**
   * The name of the event loop is unknown.
   *
   * ```js
   * // Wrong
   * installLoop("epoll");
   *
   * // Right
   * installLoop("libuv");
   * ```
   */
  TSGI_UNKNOWN_LOOP: (name: unknown) => `installLoop() takes "libuv" or "uwebsockets", not ${JSON.stringify(name)}.`,
  /**
   * Plain handlers run in workers, and the module that these import is of no use to them.
   *
   * An `EntryError` of `tsgi/concurrency`. The module cannot be imported, has not finished importing within 10 seconds, makes no
   * App, or one with other routes than the server's. The message names a route, the module, and the ways out. See
   * [what a worker imports](concurrency.md#modules-loaded-by-workers).
   *
   * ```js
   * // Right
   * const inline = new App({ pool: { kind: "inline" } });
   * inline.get("/sum", () => 1 + 1);
   * app.get("/sum", async () => 1 + 1);
   * ```
   */
  "TSGI_UNUSABLE_ENTRY.route": (route: string, problem: string) =>
    `${route} is a plain function, which runs in a worker of the pool, and ${problem}. Make the handler ` +
    "async, or name the module that makes the App (new App({ entry: import.meta.url })), or keep plain " +
    `handlers on the event loop (new App({ pool: { kind: "inline" } })).`,
  "TSGI_UNUSABLE_ENTRY.worker": (problem: string) => `The worker ${problem}.`,
};
