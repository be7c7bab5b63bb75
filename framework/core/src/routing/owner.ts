/** An App or a Router, as its verbs see it in types. @module */

/** The key of what all routes of an App or a Router have, which is there in types only. */
export declare const PATHS: unique symbol;

/**
 * The common facts of all routes of an App or a Router, as one type: a separate type parameter costs each route 3
 * instantiations.
 */
export interface Surroundings {
  /** `true` if a prefix is complete: a Router may be included under another prefix, which `Path()` may name. */
  readonly isWhole: boolean;
  /** The responses that the App or Router declares. */
  readonly responses: unknown;
}

/** The same with types. */
export interface Around<IsWhole extends boolean, Responses> extends Surroundings {
  readonly isWhole: IsWhole;
  readonly responses: Responses;
}

/**
 * The prefix of all paths, and what all routes have in common. The members do not mention the type parameters, so that a
 * Router with a prefix is assignable to `Router`.
 */
export interface Paths<_Prefix extends string, _Around extends Surroundings> {
  readonly paths: never;
}

/** An App or a Router, as a verb sees it. */
export interface Owner<Prefix extends string, Of extends Surroundings> {
  readonly [PATHS]: Paths<Prefix, Of>;
}
