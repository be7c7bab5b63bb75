import type { RoutePlan } from "../dependencies.js";
import type { Handler, RouteOptions, StreamFormat } from "../router.js";
import type { DocumentedMethod } from "./types.js";

/** A route as the document sees it: what was registered, and what registration compiled. */
export interface DocumentedRoute {
  readonly record: {
    /** In upper case. */
    readonly method: string;
    /** The whole pattern. */
    readonly path: string;
    readonly handler: Handler;
    readonly metadata: RouteOptions;
  };
  readonly plan: RoutePlan;
  /** How what the handler yields is sent; nothing for one that returns its result. */
  readonly streamFormat?: StreamFormat | null;
}

/** Method and pattern, for messages. */
export function placeOf({ record }: DocumentedRoute): string {
  return `${record.method} ${record.path}`;
}

/** The pattern as the document writes it: as the router reads it, without empty segments. */
export function templateOf(path: string): string {
  return `/${path
    .split("/")
    .filter((segment) => segment !== "")
    .join("/")}`;
}

const METHODS: readonly DocumentedMethod[] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/** A method as a document writes it; `undefined` for one that it cannot describe. */
export function methodOf(method: string): DocumentedMethod | undefined {
  return METHODS.find((known) => known === method.toLowerCase());
}
