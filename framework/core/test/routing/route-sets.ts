/** Route sets for the router's tests. */
import {
  createLookup,
  type Lookup,
  type LookupOptions,
  RadixRouter,
  type RadixRouterOptions,
} from "../../src/routing/radix-router.js";

/** A router whose handlers are the routes' own texts: `"GET /users/{id}"`. */
export function routerOf(options: RadixRouterOptions, ...routes: string[]): RadixRouter<string> {
  const router = new RadixRouter<string>(options);
  for (const route of routes) {
    const [method = "", path = ""] = route.split(" ");
    router.addRoute(method, path, route);
  }
  return router;
}

/** 24 routes of 24 segments, each static at another place and with a different last segment. */
export const HOSTILE = Array.from({ length: 24 }, (_, index) => {
  const segments = Array.from({ length: 23 }, (_value, place) => (place === index ? `s${place}` : `{p${place}}`));
  return `/${segments.join("/")}/last${index}`;
});

/** A path that has every static segment of `HOSTILE`, and the last one given. */
export function hostilePath(last: string): string {
  return `/${Array.from({ length: 23 }, (_, place) => `s${place}`).join("/")}/${last}`;
}

/** The lookup of one method, created again from the router's tree. */
export function lookupOf<H>(
  router: RadixRouter<H>,
  method: string,
  options: LookupOptions,
): Lookup<H, Record<string, unknown>> {
  return createLookup(router.root, method, options);
}

/** The result of a prepared form, as the router asks it. */
export function findIn<H>({ fixed, find }: Lookup<H, Record<string, unknown>>, path: string) {
  return fixed.get(path) ?? find(path);
}

/** Only generated lookups have a name. */
export function isCompiled({ find }: Lookup<string, Record<string, unknown>>): boolean {
  return find.name === "find";
}
