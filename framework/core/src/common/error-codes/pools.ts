/**
 * Non-async handlers and pools.
 *
 * See [concurrency.md](concurrency.md).
 * @module
 */

export const POOLS = {
  /**
   * A part of your application needs files, processes or compression, which the platform does not have.
   *
   * Web runtimes such as Cloudflare Workers do not have these Node modules. See [web.md](web.md#platform-limitations).
   */
  TSGI_MISSING_PLATFORM_MODULE: (user: string, module: string) =>
    `${user} needs ${module}, a module of Node that this platform lacks. Leave it out here, or serve the ` +
    "application by Node, Bun or Deno.",
  /**
   * The module for a worker is not specified by a URL or an absolute path.
   *
   * A relative path would depend on the working directory.
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
   * Your own pool cannot start a worker, because a bundler put `tsgi` into the file or the executable of your
   * application.
   *
   * You can still use the pool of an App, which starts the application as a worker. `ProcessPool`, `ThreadPool`,
   * `runInProcess` and `runInThread` need the file of `tsgi` that a worker runs. Exclude the package from the bundle,
   * for example with `esbuild --packages=external`.
   */
  TSGI_BUNDLED_POOL:
    "A pool cannot start workers here: the program of its workers is a file of the package tsgi, which is bundled. Keep " +
    "tsgi out of the bundle (esbuild --external:tsgi), or do the work in a handler that is not async.",
  /**
   * A worker of a pool tried to start workers.
   *
   * Each worker imports the module. If the module starts workers, they would start workers indefinitely.
   */
  TSGI_POOL_IN_A_WORKER:
    "A worker cannot start other workers. Call the pool from an async handler or from the main program, and " +
    "move the functions that workers call to a separate module without side effects.",
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
   * Non-async handlers run in workers, but the workers cannot use the module that they import.
   *
   * The error is an `EntryError` of `tsgi/concurrency`. It occurs if the module cannot be imported, or if the import
   * takes more than 10 seconds. It also occurs if the module does not create an App, or if its App has other routes
   * than the server. The message shows a route, the module and the possible solutions. See [modules loaded by
   * workers](concurrency.md#modules-loaded-by-workers).
   *
   * ```js
   * // Right
   * const inline = new App({ pool: { kind: "inline" } });
   * inline.get("/sum", () => 1 + 1);
   * app.get("/sum", async () => 1 + 1);
   * ```
   */
  "TSGI_UNUSABLE_ENTRY.route": (route: string, problem: string) =>
    `${route} is not async, so it runs in a worker of the pool, and ${problem}. Make the handler ` +
    "async, or name the module that makes the App (new App({ entry: import.meta.url })), or keep non-async " +
    `handlers on the event loop (new App({ pool: { kind: "inline" } })).`,
  "TSGI_UNUSABLE_ENTRY.worker": (problem: string) => `The worker ${problem}.`,
};
