/** Changes between two documents, and the rules that say which of them break clients. @module */

/** `breaking`: a client of the earlier document may fail. `addition`: it breaks no clients. */
export type ChangeKind = "breaking" | "addition";

/** `request`: data that the application reads. `response`: data that it sends. In a webhook the two change places. */
export type Side = "request" | "response";

/** A rule: how it counts for each side, and what keeps clients going where it breaks them. */
interface Rule {
  readonly request: ChangeKind;
  readonly response: ChangeKind;
  readonly remedy: string;
}

const both = (kind: ChangeKind, remedy = ""): Rule => ({ request: kind, response: kind, remedy });
const breaksRequests = (remedy: string): Rule => ({ request: "breaking", response: "addition", remedy });
const breaksResponses = (remedy: string): Rule => ({ request: "addition", response: "breaking", remedy });

/**
 * The rules by name. A client sends requests that the earlier document allows, and relies on the responses that it
 * describes: a request may only become wider, a response only narrower, and no named part may be removed.
 */
export const RULES = {
  "operation-added": both("addition"),
  "operation-removed": both("breaking", "Keep it, marked as deprecated, until no client calls it."),
  "member-added": both("addition"),
  "required-member-added": both("breaking", "Make it optional, or give it a default."),
  "member-removed": both("breaking", "Keep it, marked as deprecated."),
  "member-required": breaksRequests("Leave it optional, or give it a default."),
  "member-optional": breaksResponses("Continue to send it in every response."),
  narrowed: breaksRequests("Accept the old values too, or add a new route for the new form."),
  widened: breaksResponses("Send only the documented values, or add a new route for the new form."),
  "media-type-added": both("addition"),
  "media-type-removed": both("breaking", "Keep the old media type in addition to the new one."),
  "success-added": breaksResponses("Respond with a status that clients know."),
  "success-removed": both("breaking", "Keep the status, or add a new route for the new response."),
  "error-added": both("addition"),
  "error-removed": both("addition"),
  "security-narrowed": breaksRequests("Go on accepting these credentials."),
  "security-widened": both("addition"),
} as const satisfies Record<string, Rule>;

/** The name of a rule of `compareDocuments`. */
export type ChangeRule = keyof typeof RULES;

/** A difference between two documents that clients can notice. */
export interface Change {
  readonly kind: ChangeKind;
  readonly rule: ChangeRule;
  /** Method and path, or method and the name of a webhook. */
  readonly operation: string;
  /** The place in the operation, with slashes between its parts: `query/limit`, `response/200/items/[]/name`. */
  readonly place: string;
  /** One sentence. */
  readonly message: string;
  /** A sentence on what keeps clients going; empty for an addition. */
  readonly remedy: string;
}

/** A place in both documents. Its methods give places further inside. */
export class Place {
  readonly #changes: Change[];
  readonly operation: string;
  readonly path: readonly string[];
  readonly side: Side;

  constructor(changes: Change[], operation: string, side: Side, path: readonly string[] = []) {
    this.#changes = changes;
    this.operation = operation;
    this.side = side;
    this.path = path;
  }

  /** The place of a part. A key of a document is escaped as in a JSON pointer (RFC 6901 §3). */
  at(...keys: readonly string[]): Place {
    const escaped = keys.map((key) => key.replaceAll("~", "~0").replaceAll("/", "~1"));
    return new Place(this.#changes, this.operation, this.side, [...this.path, ...escaped]);
  }

  /** The same place in the other direction: of the response to a request. */
  get answer(): Place {
    return new Place(this.#changes, this.operation, this.side === "request" ? "response" : "request", this.path);
  }

  /** An operation inside this one: a callback. */
  within(name: string): Place {
    return new Place(this.#changes, `${this.operation}, ${name}`, this.side);
  }

  report(rule: ChangeRule, message: string): void {
    const kind = RULES[rule][this.side];
    const remedy = kind === "breaking" ? RULES[rule].remedy : "";
    const change: Change = { kind, rule, operation: this.operation, place: this.path.join("/"), message, remedy };
    const isKnown = this.#changes.some(
      (known) =>
        known.operation === change.operation && known.place === change.place && known.message === change.message,
    );
    if (!isKnown) this.#changes.push(change);
  }
}
