/** Packages that are installed next to this one, or next to the program that uses it. @module */

// oxlint-disable-next-line no-underscore-dangle -- the name that webpack defines in its bundles
declare const __webpack_require__: unknown;

/**
 * The address of a module of this package. `undefined` in a bundle of webpack, which replaces `import.meta.url` with the
 * address on the machine that built it, and in a CommonJS bundle, which has no address.
 */
export const OWN_URL: string | undefined = typeof __webpack_require__ === "function" ? undefined : import.meta.url;

/** The places from which such a package is found. */
export function places(): string[] {
  return [OWN_URL, globalThis.process?.argv[1]].flatMap((place) => place ?? []);
}

/** The first result of a lookup that does not throw: a package is not at each place, or has no binary for this process. */
export function firstOf<T>(from: readonly string[], lookUp: (place: string) => T): T | null {
  for (const place of from) {
    try {
      return lookUp(place);
    } catch {
      // not there
    }
  }
  return null;
}
