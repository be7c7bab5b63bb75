/** `Webhooks`: events that are sent to the endpoints of others. @module */
import { randomUUID } from "node:crypto";
import { controlOf, DeadJobError, InvalidPayloadError, type Job, RetryJobError } from "@tsgi/jobs";
import { type App, Body, Header, type Schema, type SchemaInput, t } from "tsgi";
import { compileTextOf, unlessAborted, withPlace } from "tsgi/internals";
import { AddressGuard } from "./addresses.js";
import { attempt, type Outcome, without } from "./attempt.js";
import {
  type Deliveries,
  DeliveriesInMemory,
  DeliveriesInPostgreSQL,
  type Delivery,
  type Enqueue,
  type Row,
} from "./deliveries.js";
import { webhooksError } from "./errors.js";
import { checkOf } from "./examine.js";
import { assertOwned, assertWebhooksOptions, type SendOptions, type WebhooksOptions } from "./options.js";

/** Seconds before the second and the further attempts. @see Standard Webhooks, "Retry schedule" */
const PAUSES = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400];

/** The attempts at the same time in a worker: slow receivers must not delay the others. */
const CONCURRENCY = 32;

/** No attempt follows, not even one by hand. */
const ENDED: ReadonlySet<Row["state"]> = new Set(["delivered", "gone"]);

const DeliveryJob = t.Object({ id: t.String(), round: t.Integer(), attempts: t.Integer() });
type DeliveryJob = typeof DeliveryJob.static;

/**
 * Sends events to endpoints, signed as Standard Webhooks specifies. Each delivery is a job: it is written in the
 * transaction of the request, and tried again until the receiver responds with 2xx.
 *
 * @typeParam Events - The schemas of the events, by their names.
 * @throws ConfigurationError for an option that cannot work, and for a second object on the same jobs.
 * @example
 * ```ts
 * import { Jobs } from "@tsgi/jobs";
 * import { type Endpoint, Webhooks } from "@tsgi/webhooks";
 * import { t } from "tsgi";
 *
 * const endpoints: Endpoint[] = []; // in your database
 * export const jobs = new Jobs({ inline: true });
 * export const webhooks = new Webhooks({
 *   jobs,
 *   events: { "order.paid": t.Object({ orderId: t.Integer() }) },
 *   endpoints: async (owner) => endpoints.filter(({ id }) => id.startsWith(owner)),
 *   endpoint: async (id) => endpoints.find((one) => one.id === id) ?? null,
 * });
 * await webhooks.send("order.paid", { orderId: 1 }, { owner: "ada" });
 * ```
 */
export class Webhooks<const Events extends Readonly<Record<string, Schema>>> {
  readonly #options: WebhooksOptions<Events>;
  readonly #writers: ReadonlyMap<string, ReturnType<typeof compileTextOf>>;
  readonly #guard: AddressGuard;
  readonly #deliveries: Deliveries;
  readonly #job: Job<DeliveryJob>;
  readonly #attempts: number;

  constructor(options: WebhooksOptions<Events>) {
    assertWebhooksOptions(options);
    const { jobs, events, allow = [] } = options;
    this.#options = options;
    this.#writers = new Map(
      Object.entries(events).map(([name, schema]) => [name, withPlace(name, () => compileTextOf(schema))]),
    );
    this.#guard = new AddressGuard(allow);
    this.#attempts = options.attempts ?? PAUSES.length + 1;
    const { database, addCheck } = controlOf(jobs);
    addCheck(checkOf(allow));
    const stored = database && new DeliveriesInPostgreSQL(database);
    this.#deliveries = stored ?? new DeliveriesInMemory();
    this.#job = jobs.define(
      "webhooks/deliver",
      {
        payload: DeliveryJob,
        params: { signal: AbortSignal },
        attempts: this.#attempts,
        backoffSeconds: options.backoffSeconds ?? 10,
        concurrency: CONCURRENCY,
      },
      ({ payload, attempt: number, signal }) => this.#deliver(payload, number, signal),
    );
    if (stored === null) return; // in memory, their number is limited
    const cleanup = jobs.define("webhooks/cleanup", {}, () => stored.removeOld());
    jobs.schedule("webhooks/hourly", "0 * * * *", cleanup, undefined);
  }

  /**
   * Writes a delivery for each endpoint of the owner that receives the event.
   *
   * @returns The ids of the deliveries.
   * @throws InvalidPayloadError when the payload does not fit, and `HTTPException` with 503 when the database is unavailable.
   */
  async send<Name extends keyof Events & string>(
    event: Name,
    payload: SchemaInput<Events[Name]>,
    options: SendOptions,
  ): Promise<readonly string[]> {
    assertOwned(`send(${JSON.stringify(event)})`, options);
    const write = this.#writers.get(event);
    if (write === undefined) throw webhooksError("TSGI_UNKNOWN_WEBHOOK_EVENT", event, [...this.#writers.keys()]);
    const data = await write(payload);
    if ("faults" in data) throw new InvalidPayloadError(`the event ${event}`, data.faults);
    const { owner, tx } = options;
    const body = `{"type":${JSON.stringify(event)},"timestamp":"${new Date().toISOString()}","data":${data.text}}`;
    const receivers = (await this.#options.endpoints(owner)).filter(({ events }) => events.includes(event));
    const rows = receivers.map(({ id: endpoint }) => ({ id: randomUUID(), owner, event, endpoint, body }));
    if (rows.length > 0) await this.#deliveries.add(rows, tx, this.#enqueue);
    return rows.map(({ id }) => id);
  }

  /** Lists the deliveries of an owner, the newest first, 100 at most. @param options - `after` is the id of the last one before. */
  async deliveries({ owner, after }: { owner: string; after?: string }): Promise<readonly Delivery[]> {
    assertOwned("deliveries()", { owner });
    return this.#deliveries.list(owner, after ?? null);
  }

  /** Sends a delivery again, with the same id and body, and all attempts. @returns `false` if the owner has no such delivery. */
  async redeliver(id: string, owner: string): Promise<boolean> {
    assertOwned("redeliver()", { owner });
    return this.#deliveries.repeat(id, owner, this.#enqueue);
  }

  /** Adds the events to the webhooks of the OpenAPI document. @throws ConfigurationError once the App has started. */
  describe(app: App): void {
    for (const [event, schema] of Object.entries(this.#options.events)) {
      const params = {
        id: Header(t.String(), { alias: "webhook-id" }),
        sentAt: Header(t.Integer(), { alias: "webhook-timestamp" }),
        signature: Header(t.String(), { alias: "webhook-signature" }),
        type: Body(t.Literal(event)),
        timestamp: Body(t.String({ format: "date-time" })),
        data: Body(schema),
      };
      app.webhooks.post(event, { params, statusCode: 204 });
    }
  }

  readonly #enqueue: Enqueue = ({ id, round = 0 }, tx) =>
    this.#job.enqueue({ id, round, attempts: this.#attempts }, tx === undefined ? {} : { tx });

  async #deliver({ id, round, attempts }: DeliveryJob, number: number, signal: AbortSignal): Promise<void> {
    const row = await this.#deliveries.find(id);
    // Removed, sent again since, or delivered before its worker was killed.
    if (row?.round !== round || ENDED.has(row.state)) return;
    const outcome = await this.#attempt(row, signal);
    const { state, status, reason, cause } = outcome;
    // The end of a worker does not use up an attempt. A timeout of the job does.
    if (state === "failed" && signal.aborted && !isTimeout(signal.reason)) throw signal.reason;
    const isRepeated = state === "failed" && number < attempts;
    await this.#deliveries.record(row, { state: isRepeated ? "pending" : state, status, reason });
    if (isRepeated) throw this.#retryOf(outcome, number);
    if (!ENDED.has(state)) throw new DeadJobError(String(reason), { cause });
  }

  #retryOf({ reason, retryAfter, cause }: Outcome, number: number): Error {
    const pause = this.#options.backoffSeconds === undefined ? PAUSES[Math.min(number, PAUSES.length) - 1] : undefined;
    const seconds = retryAfter ?? pause;
    const message = String(reason);
    return seconds === undefined ? new Error(message, { cause }) : new RetryJobError(message, seconds, { cause });
  }

  async #attempt(row: Row, signal: AbortSignal): Promise<Outcome> {
    const { endpoint: find, onGone } = this.#options;
    try {
      const endpoint = await unlessAborted(Promise.resolve(find(row.endpoint)), signal);
      if (!endpoint) return without("gone", "The endpoint no longer exists");
      const outcome = await attempt(row, endpoint, this.#guard, signal);
      if (outcome.state === "gone") await onGone?.(endpoint);
      return outcome;
    } catch (error) {
      // Its message is of the application, and the reason is shown to the owner.
      return without("failed", "The application could not read or remove the endpoint", error);
    }
  }
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === "TimeoutError";
}
