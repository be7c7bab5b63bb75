export declare const OUTPUT: unique symbol;

/** A descriptor that gives the handler a `T`. */
export interface Marker<T> {
  readonly [OUTPUT]: T;
}

/** The descriptor of a path parameter. It has no default: a path parameter is never absent. */
export interface PathMarker<T> extends Marker<T> {
  readonly in: "path";
}

/** What a descriptor takes beside its schema. */
export interface SourceOptions {
  /** The name on the wire, where it is not the parameter's own. */
  alias?: string;
  description?: string;
  examples?: readonly unknown[];
  deprecated?: boolean;
  /** Whether the document lists it. Defaults to `true`. */
  includeInSchema?: boolean;
}
