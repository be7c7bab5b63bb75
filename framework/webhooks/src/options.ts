/** The options of webhooks. @module */
import { Jobs } from "@tsgi/jobs";
import type { Schema } from "tsgi";
import { ANYTHING, assertOptions, expecting, FUNCTION, LIST, OBJECT, type OptionRules, whole } from "tsgi/internals";

/** A receiver of events. */
export interface Endpoint {
  readonly id: string;
  /** An `https:` URL. */
  readonly url: string;
  /** The secrets that sign deliveries, in base64 with or without `whsec_`: two during a rotation. */
  readonly secrets: readonly string[];
  /** The names of the events that it receives. */
  readonly events: readonly string[];
}

/**
 * The options of `Webhooks`.
 *
 * @typeParam Events - The schemas of the events, by their names.
 */
export interface WebhooksOptions<Events extends Readonly<Record<string, Schema>>> {
  /** The jobs that deliver. Deliveries are kept next to them. */
  jobs: Jobs;
  /** The schema of each event. Properties that are not in it are not sent. */
  events: Events;
  /** Returns the endpoints of an owner. */
  endpoints: (owner: string) => Promise<readonly Endpoint[]> | readonly Endpoint[];
  /** Returns an endpoint, or `null` if it was removed. Called for each attempt, so that a new URL or secret is used. */
  endpoint: (id: string) => Promise<Endpoint | null> | Endpoint | null;
  /** Called if the receiver responds with 410: it does not want further deliveries. */
  onGone?: (endpoint: Endpoint) => unknown;
  /** Ranges of addresses that deliveries may use although they are not public, such as `"10.0.0.0/8"`. */
  allow?: readonly string[];
  /** The most attempts of a delivery. Defaults to 8. */
  attempts?: number;
  /**
   * Seconds before the second attempt, doubled for each further one and shortened by up to half at random. Defaults to the
   * pauses of Standard Webhooks: 5 s, 5 min, 30 min, 2, 5, 10 and 14 h.
   */
  backoffSeconds?: number;
}

const WEBHOOKS_OPTIONS: OptionRules<WebhooksOptions<Record<string, Schema>>> = {
  jobs: expecting("the Jobs of @tsgi/jobs", (value) => value instanceof Jobs),
  events: OBJECT,
  endpoints: FUNCTION,
  endpoint: FUNCTION,
  onGone: FUNCTION,
  allow: LIST,
  attempts: whole(1, 100),
  backoffSeconds: expecting("a number of seconds up to 86,400", (value) => {
    return typeof value === "number" && value >= 0 && value <= 86_400;
  }),
};

/** The options of `send`. */
export interface SendOptions {
  /** The user or the customer whose endpoints get the event. */
  owner: string;
  /** The transaction in which the deliveries are written, as for `enqueue` of a job. */
  tx?: object;
}

/** Attack: without an owner, a query of the application could return the endpoints of all owners. */
const OWNER = expecting("a string that is not empty", (value) => typeof value === "string" && value !== "");

const SEND_OPTIONS: OptionRules<SendOptions> = { owner: OWNER, tx: ANYTHING };

const REQUIRED = ["jobs", "events", "endpoints", "endpoint"] as const;

/** @throws ConfigurationError for an option that is missing or wrong. */
export function assertWebhooksOptions(options: WebhooksOptions<Record<string, Schema>>): void {
  assertOptions("new Webhooks()", options, WEBHOOKS_OPTIONS);
  for (const name of REQUIRED) WEBHOOKS_OPTIONS[name]("new Webhooks()", name, options[name]);
}

/** @throws ConfigurationError for an option that is wrong, and without an owner. */
export function assertOwned(place: string, options: SendOptions): void {
  assertOptions(place, options, SEND_OPTIONS);
  OWNER(place, "owner", options.owner);
}
