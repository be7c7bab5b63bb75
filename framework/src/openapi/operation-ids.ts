import { ConfigurationError } from "../exceptions.js";
import type { GenerateOperationId } from "./options.js";
import { type DocumentedRoute, placeOf } from "./route.js";
import { operationIdOf } from "./words.js";

/** Gives each operation a name of its own. */
export class OperationIds {
  readonly #generate: GenerateOperationId | undefined;
  readonly #places = new Map<string, string>();

  constructor(generate: GenerateOperationId | undefined) {
    this.#generate = generate;
  }

  /** @throws ConfigurationError when a chosen name is taken. One of method and path gets a number instead. */
  of(route: DocumentedRoute): string {
    const { method, path, handler, metadata } = route.record;
    const chosen =
      metadata.operationId ?? this.#generate?.({ method, path, name: handler.name, tags: metadata.tags ?? [] });
    return this.take(chosen, operationIdOf(method, route.pattern), placeOf(route));
  }

  /**
   * Takes a name.
   *
   * @param chosen - What somebody wrote, `undefined` where nobody did.
   * @param base - What it is called then, with a number where that is taken.
   * @throws ConfigurationError when the chosen name is taken.
   */
  take(chosen: string | undefined, base: string, place: string): string {
    const id = chosen ?? this.#numbered(base);
    const rival = this.#places.get(id);
    if (rival !== undefined) {
      throw new ConfigurationError(
        `the operation id ${JSON.stringify(id)} is that of ${rival} as well. Give each route an \`operationId\` of its own.`,
        { code: "TSGI_DUPLICATE_OPERATION_ID" },
      );
    }
    this.#places.set(id, place);
    return id;
  }

  #numbered(base: string): string {
    let id = base;
    for (let number = 2; this.#places.has(id); number++) id = `${base}${number}`;
    return id;
  }
}
