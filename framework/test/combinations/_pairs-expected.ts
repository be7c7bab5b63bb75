/**
 * The form of a prediction. `undefined` marks results that the pages of `framework/docs` do not specify: they are not
 * compared. @module
 */

/** A validation error: its type, and how its place begins. */
export interface ExpectedFault {
  readonly type: string | undefined;
  readonly at: string;
}

/** Problem details, or the same facts in a custom format. The path is `undefined` if it depends on the spelling of the request. */
export interface ExpectedProblem {
  readonly status: number;
  /** `undefined` is undecided. */
  readonly detail: string | undefined;
  readonly instance: string | undefined;
  readonly faults: readonly ExpectedFault[] | null;
}

/** A body, by its form. `detail` is an object with any text of that name. */
export type ExpectedBody =
  | { readonly json: unknown }
  | { readonly faults: readonly ExpectedFault[] }
  | { readonly items: readonly unknown[] }
  | { readonly text: string }
  | { readonly problem: ExpectedProblem }
  | { readonly custom: ExpectedProblem }
  | "detail";

/** The response as a client sees it, and the log. */
export interface Answer {
  readonly status: number;
  /** By name, the beginning of the value; `null`: it is absent. */
  readonly headers: Readonly<Record<string, string | null>>;
  /** Of a response that may have one. */
  readonly body: ExpectedBody;
  /** The number of lines that the App logs at level `error`. */
  readonly errors: number | undefined;
  /** True if the observation ends with an error. */
  readonly isFailure: boolean | undefined;
}

/** The prediction for a request. */
export interface Expected extends Answer {
  /** The connection ends before the response does. */
  readonly isCut: boolean;
  readonly events: readonly string[] | undefined;
  /** The pattern that the instrumentation of the outer App gets; `null` if no route matches. */
  readonly route: string | null | undefined;
}
