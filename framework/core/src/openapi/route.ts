/** Routes, as the OpenAPI document describes them. @module */
import type { RoutePlan } from "../parameters/dependencies/plan.js";
import type { Middleware } from "../middleware/chain.js";
import type { ResponseDocs } from "../parameters/annotation.js";
import type { PathPattern } from "../routing/path-pattern.js";
import type { RouteRecord } from "../routing/entries.js";
import type { StreamFormat } from "../routing/options.js";
import type { DocumentedMethod } from "./types.js";

/** A route as the document describes it: the registration, and its compiled form. */
export interface DocumentedRoute {
  readonly record: RouteRecord;
  readonly pattern: PathPattern;
  readonly plan: RoutePlan;
  /** The responses that the route, its routers and its App declare, innermost first. Defaults to the record's. */
  readonly responses?: readonly ResponseDocs[];
  /** The format in which the handler streams; undefined if the handler returns its result. */
  readonly streamFormat?: StreamFormat | null;
  /** The middleware around it. */
  readonly middleware?: readonly Middleware[];
}

/** Method and pattern, for messages. */
export function placeOf({ record }: DocumentedRoute): string {
  return `${record.method} ${record.path}`;
}

const METHODS: readonly DocumentedMethod[] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/** A method as a document writes it; `undefined` for one that it cannot describe. */
export function documentedMethod(method: string): DocumentedMethod | undefined {
  return METHODS.find((known) => known === method.toLowerCase());
}
