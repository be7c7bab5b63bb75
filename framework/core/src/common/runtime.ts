/** Facts about the runtime, without types of Node: declarations that a browser's project reads import this file. @module */
import { configurationError, type ConfigurationError } from "./exceptions.js";

/** A bundle for the web is for other runtimes than Bun and Deno. */
export const isBun: boolean = process.env["TSGI_PLATFORM"] !== "web" && "Bun" in globalThis;
export const isDeno: boolean = process.env["TSGI_PLATFORM"] !== "web" && "Deno" in globalThis;

/** Tells if this is Cloudflare's runtime, whose requests cannot wait for each other. */
export function isWorkerd(): boolean {
  const globals: typeof globalThis & { navigator?: { readonly userAgent?: string } } = globalThis;
  return globals.navigator?.userAgent === "Cloudflare-Workers";
}

/** Makes the error for a module of Node that the runtime lacks. @param user - The function that needs it. */
export function missingModule(name: string, user: string): ConfigurationError {
  return configurationError("TSGI_MISSING_PLATFORM_MODULE", user, name);
}
