/**
 * API keys: `@tsgi/api-keys`.
 *
 * These errors are thrown when you create a store of keys, or use it. See [api-keys.md](api-keys.md).
 * @module
 */
import { errorsOf } from "tsgi/internals";

const MESSAGES = {
  /**
   * `prismaKeys()` has the dependency of a database, and the application that opens it has not started.
   *
   * ```js
   * // Wrong
   * const db = Depends(openDatabase, { scope: "app" });
   * const keys = new ApiKeys({ store: prismaKeys(db) });
   * await keys.create({ owner: "ada" });
   *
   * // Right
   * const db = Depends(openDatabase, { scope: "app" });
   * const keys = new ApiKeys({ store: prismaKeys(db) });
   * keys.attach(app);
   * app.post("/keys", async () => keys.create({ owner: "ada" }));
   * ```
   *
   * A program without an application opens the database itself: `prismaKeys(await openPrisma(…))`.
   */
  TSGI_API_KEYS_NOT_STARTED:
    "prismaKeys(): the database belongs to an application that has not started. Call keys.attach(app), and use the keys after " +
    "the application's start.",
  /**
   * The database of `prismaKeys()` is a dependency that is made for each request, but keys are also created outside of requests.
   *
   * ```js
   * // Wrong
   * prismaKeys(Depends(openDatabase));
   *
   * // Right
   * prismaKeys(Depends(openDatabase, { scope: "app" }));
   * ```
   */
  TSGI_API_KEYS_DATABASE:
    'prismaKeys(): the database is a client of openPrisma(), or its dependency: Depends(openDatabase, { scope: "app" }).',
};

/** Makes an error of this package. */
export const apiKeysError = errorsOf(MESSAGES);
