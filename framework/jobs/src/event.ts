/** Events: each subscriber of one gets a job. @module */
import type { Params, Schema } from "tsgi";
import type { Definition } from "./definition.js";
import type { JobArgs, PayloadInput, PublishOptions, SubscribeOptions } from "./options.js";
import type { Payload } from "./payload.js";

/**
 * An event of a program, with the subscribers that the program has declared.
 *
 * @typeParam S - The schema of the payload; `undefined` for an event without one.
 */
export interface JobEvent<S extends Schema | undefined> {
  readonly name: string;
  /**
   * Declares a subscriber. Each event gets it a job named `<event>/<name>`, with separate attempts and backoff: if it
   * fails, other subscribers do not notice.
   *
   * @param name - Letters, digits and `-_./`. The job is found by it even after the next release.
   * @param handler - Gets the payload, the number of the attempt, and the parameters. It may run more than once.
   * @throws ConfigurationError for a name that is taken, an option or a parameter that cannot work, and in a program
   *   without a name.
   */
  subscribe<const P extends Params = {}>(
    name: string,
    options: SubscribeOptions<P>,
    handler: (args: JobArgs<S, P>) => unknown,
  ): void;
  /**
   * Writes a job for each subscriber in any program: either all of the jobs or no job.
   *
   * @throws InvalidPayloadError when the payload does not fit, and `HTTPException` with 503 when the database is unavailable.
   */
  publish(payload: PayloadInput<S>, options?: PublishOptions): Promise<void>;
}

/** An event as it was declared. */
export interface DeclaredEvent {
  readonly name: string;
  readonly schema: Schema | undefined;
  readonly payload: Payload;
  readonly subscribers: Definition[];
}
