/** What a look-up finds, and the shape in which it is handed out. @module */
import { decodeSegment } from "./path.js";

/** The values of a path's parameters by name. It has no prototype's names: `__proto__` and `constructor` are ordinary. */
export type PathParams = Record<string, string>;

/** What `resolve` gives: the handler, the parameters of this look-up alone, and the route's own metadata. */
export type Resolved<H, M> = [handler: H, pathParams: PathParams, metadata: M];

/** A registered route as the prepared forms keep it. */
export interface Route<H, M> {
  readonly handler: H;
  readonly metadata: M;
  /** The pattern's segments: static text in the canonical form, or `null` for a parameter. */
  readonly texts: readonly (string | null)[];
  /** The parameters' names in the pattern's order. */
  readonly names: readonly string[];
  /** For each name the index of its segment. */
  readonly positions: readonly number[];
}

function BareParams(this: unknown): void {}
BareParams.prototype = Object.create(null) as object;

/**
 * Makes the object that a look-up's parameters go into. Its prototype has no prototype, so it inherits nothing, and
 * unlike an `Object.create(null)`, which is a hash table, it has fast properties.
 */
export const PathParamsObject = BareParams as unknown as new () => PathParams;

/** The route's tuple for a path that matches it. */
export function resolved<H, M>(route: Route<H, M>, segments: readonly string[]): Resolved<H, M> {
  const params = new PathParamsObject();
  for (let index = 0; index < route.names.length; index++) {
    // Both lists have one entry a parameter, and a path that matches has one segment for each of the pattern's.
    params[route.names[index]!] = decodeSegment(segments[route.positions[index]!]!);
  }
  return [route.handler, params, route.metadata];
}
