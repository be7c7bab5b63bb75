/** The grammar that heads and chunked bodies share, for the parsers to compare with. @module */

/** The statuses that may refuse an input: two if a line is too long and may be malformed as well. */
export class Refusal {
  readonly statuses: readonly number[];

  constructor(...statuses: readonly number[]) {
    this.statuses = statuses;
  }
}

/** RFC 9110 §5.6.2. */
export const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** RFC 9112 §5. */
export const FIELD_LINE = new RegExp(`^(${TOKEN}):([\\t\\x20-\\x7e\\x80-\\xff]*)$`);
