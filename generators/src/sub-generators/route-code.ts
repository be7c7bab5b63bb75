import type { Guard } from "../code/registrars.js";
import { readPathNames } from "./names.js";
import type { RouteCall } from "./test-file.js";

/** The methods of new routes. */
export const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

export type Method = (typeof methods)[number];

/** The schema and an example of a path parameter, by its name. */
function schemaOf(name: string): { schema: string; example: string | number } {
  return /^id$|_id$|[a-z]Id$/.test(name)
    ? { schema: "Integer()", example: 1 }
    : { schema: "String()", example: "example" };
}

/** A route that returns its parameters, to start from. */
export class RouteCode {
  readonly method: Method;
  /** The whole path. */
  readonly path: string;
  readonly #names: readonly string[];

  /** @throws UsageError for a path that the router would refuse */
  constructor(method: Method, path: string) {
    this.method = method;
    this.path = path;
    this.#names = readPathNames(path);
  }

  get #body(): string | null {
    const takesBody = this.method !== "GET" && this.method !== "DELETE";
    return takesBody ? (this.#names.includes("body") ? "payload" : "body") : null;
  }

  /**
   * The statement that registers it.
   *
   * @param variable the App or Router
   * @param path its path without the prefix of the Router
   * @param imported returns the local name of an import from `tsgi`
   * @param guard the dependency of the neighbouring routes that returns the current user
   */
  render(variable: string, path: string, imported: (name: string) => string, guard?: Guard): string {
    const lines = [
      `${variable}.${this.method.toLowerCase()}(`,
      `  ${JSON.stringify(path)},`,
      "  {",
      `    summary: ${JSON.stringify(`${this.method} ${this.path}`)},`,
      ...this.#options(imported, guard).map((line) => `    ${line},`),
      "  },",
      `  ${this.#handler(imported)},`,
      ");",
    ];
    return lines.join("\n");
  }

  #options(imported: (name: string) => string, guard?: Guard): string[] {
    const isDelete = this.method === "DELETE";
    const t = isDelete && this.#names.length === 0 ? "" : imported("t");
    const members = this.#names.map((name) => `${name}: ${t}.${schemaOf(name).schema}`);
    const params = this.#body === null ? members : [...members, `${this.#body}: ${t}.Object({ name: ${t}.String() })`];
    const returns = params.length > 0 ? params : [`status: ${t}.String()`];
    const user = this.#names.includes("account") ? "currentAccount" : "account";
    const all =
      guard === undefined
        ? params
        : [...params, `${user}: ${guard.variable ?? `${imported("Depends")}(${guard.name})`}`];
    return [
      ...(all.length > 0 ? [`params: { ${all.join(", ")} }`] : []),
      isDelete ? "statusCode: 204" : `returns: ${t}.Object({ ${returns.join(", ")} })`,
      ...(this.method === "POST" ? ["statusCode: 201"] : []),
    ];
  }

  #handler(imported: (name: string) => string): string {
    if (this.method === "DELETE") {
      return `async () => new ${imported("Response")}(null, { statusCode: 204 })`;
    }
    const names = [...this.#names, ...(this.#body === null ? [] : [this.#body])].join(", ");
    return names === "" ? 'async () => ({ status: "ok" })' : `async ({ ${names} }) => ({ ${names} })`;
  }

  /** A request to it with examples, and its response. */
  get call(): RouteCall {
    const { method, path } = this;
    const names = Object.fromEntries(this.#names.map((name) => [name, schemaOf(name).example]));
    if (method === "DELETE") {
      return { method, path, names, status: 204 };
    }
    const body = this.#body === null ? undefined : { name: "example" };
    const shown = { ...names, ...(this.#body !== null && { [this.#body]: body }) };
    const answer = Object.keys(shown).length > 0 ? shown : { status: "ok" };
    return { method, path, names, body, status: method === "POST" ? 201 : 200, answer };
  }
}
