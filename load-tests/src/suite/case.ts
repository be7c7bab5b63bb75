/** The requests of a suite, and the answers that they must get. @module */

/** An answer, its header names in lower case. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One request of a suite. */
export interface Case {
  readonly name: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly status: number;
  /** Its requests, as a share of those of the suite: less than 1 where an answer is much work. */
  readonly share: number;
  /** Connections at most, where those that are cut at the end would leave the server much work; all of the load without it. */
  readonly connections?: number;
  /** True where every answer has the same body. */
  readonly isConstant: boolean;
  /** The fault of an answer's headers and body, else `null`. */
  readonly check: (reply: Reply) => string | null;
}

/** The fault of an answer in one line, or `null` when it is right. */
export function faultOfReply({ name, status, check }: Case, reply: Reply): string | null {
  if (reply.status !== status) {
    return `${name}: expected the status ${status}, got ${reply.status} ${reply.body.slice(0, 200)}`;
  }
  const fault = check(reply);
  return fault === null ? null : `${name}: ${fault}`;
}

/** Parses JSON; `undefined` for anything else. */
export function parseJSON(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
