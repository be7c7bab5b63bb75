/**
 * Files and servers.
 *
 * See [responses.md](responses.md#staticfiles) and [server.md](server.md).
 * @module
 */
import { describe } from "../messages.js";

export const FILES = {
  /**
   * The argument of `StaticFiles` is not a folder, or the folder cannot be read.
   *
   * A relative path depends on the working directory, which may be different if a service manager starts your
   * application. A URL with `import.meta.url` is relative to the module.
   *
   * ```js
   * // Wrong
   * app.mount("/", new StaticFiles());
   *
   * // Right
   * app.mount("/", new StaticFiles(new URL("public/", import.meta.url)));
   * ```
   *
   * @remarks Thrown at the first request.
   */
  "TSGI_INVALID_STATIC_FOLDER.missing": (path: unknown, resolved: string) =>
    `StaticFiles: ${JSON.stringify(path)} is not a readable folder. It is looked for at ${resolved}: a ` +
    "relative path begins at the working directory.",
  "TSGI_INVALID_STATIC_FOLDER.type": (given: unknown) =>
    `StaticFiles takes the path of a folder, not ${describe(given)}. Write new StaticFiles("public").`,
  /**
   * An entry of `trustedProxies` is neither an address nor a network.
   *
   * You cannot use a host name, because you would trust the owner of its DNS.
   *
   * ```js
   * // Wrong
   * await serve(app, { trustedProxies: ["proxy.example.com"] });
   *
   * // Right
   * const options = { trustedProxies: ["10.0.0.0/8", "loopback"] };
   * ```
   */
  TSGI_INVALID_TRUSTED_PROXY: (entry: unknown) =>
    `trustedProxies: expected addresses, networks such as "10.0.0.0/8", "loopback", "private" or "unix", not ` +
    `${JSON.stringify(entry)}.`,
  /**
   * `clientAddressHeader` is set without `trustedProxies`.
   *
   * Any client can send the header, so it is read only from the proxies that you list.
   *
   * ```js
   * // Wrong
   * await serve(app, { clientAddressHeader: "Fly-Client-IP" });
   *
   * // Right
   * const options = { trustedProxies: ["private"], clientAddressHeader: "Fly-Client-IP" };
   * ```
   */
  TSGI_UNTRUSTED_CLIENT_ADDRESS: (header: string) =>
    `clientAddressHeader: ${header} is read from trusted proxies only. List them in trustedProxies, or any client could ` +
    "choose its address.",
  /**
   * `workers` is not an integer of at least 1.
   *
   * ```js
   * // Wrong
   * await serve(app, { workers: 0 });
   *
   * // Right
   * const options = { workers: 4 };
   * ```
   */
  "TSGI_INVALID_WORKERS.serve": (given: unknown) =>
    `serve: expected workers to be a whole number from 1 on, not ${String(given)}.`,
};
