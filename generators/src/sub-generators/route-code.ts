import { readPathNames } from "./names.js";

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

  /** Its imports from `tsgi`. */
  get imports(): readonly string[] {
    return this.method === "DELETE" ? [...(this.#names.length > 0 ? ["t"] : []), "Response"] : ["t"];
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
  render(variable: string, path: string, imported: (name: string) => string, guard?: string): string {
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

  #options(imported: (name: string) => string, guard?: string): string[] {
    const isDelete = this.method === "DELETE";
    const t = isDelete && this.#names.length === 0 ? "" : imported("t");
    const members = this.#names.map((name) => `${name}: ${t}.${schemaOf(name).schema}`);
    const params = this.#body === null ? members : [...members, `${this.#body}: ${t}.Object({ name: ${t}.String() })`];
    const returns = params.length > 0 ? params : [`status: ${t}.String()`];
    const user = this.#names.includes("account") ? "currentAccount" : "account";
    const all = guard === undefined ? params : [...params, `${user}: ${imported("Depends")}(${guard})`];
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

  /** The statements of its test. */
  renderTest(client: string, { isGuarded }: { isGuarded: boolean }): string[] {
    const examples = Object.fromEntries(this.#names.map((name) => [name, schemaOf(name).example]));
    const path = this.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(examples[name]));
    const body = this.#body === null ? "" : '.send({ name: "example" })';
    const call = `await ${client}.${this.method.toLowerCase()}(${JSON.stringify(path)})`;
    const members = Object.entries(examples).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
    const answer = this.#body === null ? members : [...members, `${this.#body}: { name: "example" }`];
    const shown = `{ ${answer.length > 0 ? answer.join(", ") : 'status: "ok"'} }`;
    const expected = this.method === "DELETE" ? "204" : `${this.method === "POST" ? 201 : 200}, ${shown}`;
    const credentials = isGuarded ? '.auth(token, { type: "bearer" })' : "";
    return [...(isGuarded ? [`${call}${body}.expect(401);`] : []), `${call}${credentials}${body}.expect(${expected});`];
  }
}
