/** The payload of a job or an event: its check, and its form in the database. @module */
import type { Fault, Schema } from "tsgi";
import { compileCheckOf } from "tsgi/internals";

/**
 * The payload of a job or an event does not fit its schema. `faults` lists the errors, without the payload itself.
 *
 * @example
 * ```ts
 * import { t } from "tsgi";
 * import { InvalidPayloadError, Jobs } from "@tsgi/jobs";
 *
 * const jobs = new Jobs({ inline: true });
 * const report = jobs.define("report", { payload: t.Object({ day: t.String({ minLength: 10 }) }) }, async () => {});
 * const error = await report.enqueue({ day: "Monday" }).catch((error: unknown) => error);
 * console.log(error instanceof InvalidPayloadError); // true
 * ```
 */
export class InvalidPayloadError extends Error {
  override readonly name = "InvalidPayloadError";
  readonly faults: readonly Fault[];

  /** @param owner - Its job or event, such as `"the job report"`. */
  constructor(owner: string, faults: readonly Fault[]) {
    const shown = faults.slice(0, 3).map(({ loc, msg }) => (loc.length > 0 ? `${loc.join(".")}: ${msg}` : msg));
    const more = faults.length > shown.length ? `; and ${faults.length - shown.length} more` : "";
    super(`The payload of ${owner} does not fit: ${shown.join("; ")}${more}`);
    this.faults = faults;
  }
}

/** Escapes of JSON that PostgreSQL's `jsonb` rejects: NUL, and a surrogate without its pair (PostgreSQL manual, §8.14). */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][\da-f]{2})/;

/** Checks payloads. */
export class Payload {
  readonly #kind: "job" | "event";
  readonly #name: string;
  readonly #check: ReturnType<typeof compileCheckOf> | null;

  /** @throws ConfigurationError for a schema that cannot work. */
  constructor(kind: "job" | "event", name: string, schema: Schema | undefined) {
    this.#kind = kind;
    this.#name = name;
    this.#check = schema === undefined ? null : compileCheckOf(schema);
  }

  /**
   * Checks a payload before it is written, as JSON will store it.
   *
   * @returns The payload as JSON; `undefined` without one.
   * @throws InvalidPayloadError when it does not fit.
   */
  async pack(payload: unknown): Promise<unknown> {
    const text = payload === undefined ? undefined : JSON.stringify(payload);
    if (text === undefined) {
      await this.read(undefined);
      return undefined;
    }
    if (UNSTORABLE.test(text)) {
      const msg = "Contains a NUL character or half of a surrogate pair, which PostgreSQL cannot store";
      throw this.#invalid([{ type: "string_unicode", loc: [], msg }]);
    }
    const stored: unknown = JSON.parse(text);
    await this.read(stored);
    return stored;
  }

  /** Checks a stored payload, and returns the value for the handler. @throws InvalidPayloadError when it does not fit. */
  async read(stored: unknown): Promise<unknown> {
    if (this.#check === null) {
      if (stored === undefined || stored === null) return undefined;
      throw this.#invalid([{ type: "value_error", loc: [], msg: `The ${this.#kind} has no payload` }]);
    }
    const checked = await this.#check(stored);
    if ("faults" in checked) throw this.#invalid(checked.faults);
    return checked.value;
  }

  #invalid(faults: readonly Fault[]): InvalidPayloadError {
    return new InvalidPayloadError(`the ${this.#kind} ${this.#name}`, faults);
  }
}
