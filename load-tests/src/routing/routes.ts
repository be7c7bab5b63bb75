/** The route set of the specification's routing benchmark: 50 static, 30 with one parameter, 20 with several. @module */

/** A route to register. */
export interface BenchRoute {
  readonly method: "GET";
  /** With `{name}` for a parameter. */
  readonly path: string;
  /** The same with `:name`, as all peers write it. */
  readonly colonPath: string;
  /** The result of a look-up. */
  readonly handler: () => string;
}

/** A path to look up, and what must be found. */
export interface Lookup {
  readonly name: string;
  readonly path: string;
  /** The pattern of the route that it belongs to. */
  readonly route: string;
  readonly params: Readonly<Record<string, string>>;
}

const SECTIONS = ["docs", "admin", "status", "legal", "help"];
const PAGES = ["index", "search", "recent", "install", "settings", "reports", "daily", "weekly", "contact", "about"];
const RESOURCES = "users orders products invoices carts teams projects tickets events articles".split(" ");

/**
 * The 100 routes. No static segment is next to a parameter: Hono's RegExpRouter rejects such sets, and all routers are
 * measured with the same one.
 */
export const ROUTES: readonly BenchRoute[] = [
  ...SECTIONS.flatMap((section) => PAGES.map((page) => `/${section}/${page}`)),
  ...RESOURCES.flatMap((name) => [`/${name}/{id}`, `/${name}/{id}/history`, `/${name}/{id}/settings`]),
  ...RESOURCES.flatMap((name) => [`/${name}/{id}/notes/{note_id}`, `/${name}/{id}/notes/{note_id}/replies/{reply_id}`]),
].map((path) => ({
  method: "GET",
  path,
  colonPath: path.replaceAll(/\{(\w+)\}/g, ":$1"),
  handler: () => path,
}));

/** The three paths, from the middle of the set. */
export const LOOKUPS: readonly Lookup[] = [
  { name: "static", path: "/status/install", route: "/status/install", params: {} },
  { name: "one parameter", path: "/invoices/42", route: "/invoices/{id}", params: { id: "42" } },
  {
    name: "three parameters",
    path: "/carts/42/notes/7/replies/1234",
    route: "/carts/{id}/notes/{note_id}/replies/{reply_id}",
    params: { id: "42", note_id: "7", reply_id: "1234" },
  },
];
