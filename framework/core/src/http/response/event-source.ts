/** Server-sent events: their type, their text, and the response that streams them. @module */
import { decodeUTF8, encodeUTF8 } from "../../protocol/header-list.js";
import { encodeLatin1 } from "../../protocol/bytes.js";
import { consoleLogger, type Logger, loggerOf } from "../../common/logger.js";
import { MAX_TIMER_MS } from "../../common/promises.js";
import { writeError } from "../error-format.js";
import type { Request } from "../request.js";
import { PREPARE, type ResponseOptions, type Sender } from "./response.js";
import { FAILURE, isStreamFailure, PACE, type Pace, type StreamContent, StreamingResponse } from "./streaming.js";

/**
 * One server-sent event.
 *
 * @see {@link https://html.spec.whatwg.org/multipage/server-sent-events.html | HTML §9.2 Server-sent events}
 */
export interface ServerSentEvent {
  /** Text, which may have several lines; anything else is sent as JSON. */
  data?: unknown;
  /** The name that listeners are told apart by. Without it browsers call it `message`. */
  event?: string;
  /** Value of `Last-Event-ID` when the client connects again. */
  id?: string | number;
  /** Milliseconds before a client that lost its connection tries again. */
  retry?: number;
  /** A line that clients skip. */
  comment?: string;
}

/** The options of an `EventSourceResponse`. */
export interface EventSourceOptions extends Omit<ResponseOptions, "mediaType"> {
  /** Milliseconds without an event after which a comment is sent, so that no proxy closes the connection; 0 for never. Defaults to 15,000. */
  keepAliveMs?: number;
}

const KEEP_ALIVE = encodeUTF8(": keep-alive\n\n");

const FIELDS = new Set(["data", "event", "id", "retry", "comment"]);

/** Tells if an item is an event, not data: an object with only the fields of an event, and more than an `id`. */
export function isServerSentEvent(item: unknown): item is ServerSentEvent {
  if (typeof item !== "object" || item === null || Array.isArray(item)) return false;
  const names = Object.keys(item);
  return names.length > 0 && names.every((name) => FIELDS.has(name)) && !(names.length === 1 && names[0] === "id");
}

const EVENT: unique symbol = Symbol.for("tsgi.event");

/** An event that {@link event} has made. */
export interface MarkedEvent {
  /** No JSON has this property, so data from a client are never taken for an event. */
  readonly [EVENT]: true;
}

/** A marked event that listeners do not hear of: a comment, an `id` or a `retry`. */
export interface Notice extends MarkedEvent {
  readonly data?: undefined;
  readonly event?: undefined;
}

/**
 * Marks an item of a stream as an event. In a route with `stream: "sse"`, anything else is data, regardless of its
 * keys: a message from a client with the keys `event` and `retry` must not become an event of the server. If a field is
 * invalid, it is skipped and logged.
 *
 * @example
 * ```ts
 * import { App, event } from "tsgi";
 *
 * const app = new App();
 * app.get("/ticks", { stream: "sse" }, async function* () {
 *   yield event({ event: "tick", id: 1, data: { at: Date.now() } });
 *   yield { at: Date.now() }; // the data of an event without a name
 * });
 * ```
 */
export function event<Fields extends ServerSentEvent>(fields: Fields): Fields & MarkedEvent {
  return { ...fields, [EVENT]: true };
}

/** Tells if {@link event} has made an item. */
export function isMarkedEvent(item: unknown): item is ServerSentEvent & MarkedEvent {
  return typeof item === "object" && item !== null && EVENT in item;
}

/** HTML §9.2.5: any of these ends a line. */
const LINE_END = /\r\n|\r|\n/;
/** CR and LF end a field, and clients ignore an `id` with NUL. */
const BREAKS = /[\r\n\0]/;

function lines(field: string, text: string): string {
  if (!LINE_END.test(text)) return `${field}: ${text}\n`;
  return text
    .split(LINE_END)
    .map((part) => `${field}: ${part}\n`)
    .join("");
}

/** Describes the problem with a field of one line; `null` if it is valid. */
function faultOf(field: string, value: unknown): string | null {
  if (field === "retry") {
    if (Number.isSafeInteger(value) && Number(value) >= 0) return null;
    return `The retry of a server-sent event should be whole milliseconds, not ${JSON.stringify(value)}.`;
  }
  const isText = typeof value === "string" || (field === "id" && typeof value === "number");
  if (!isText) return `The ${field} of a server-sent event should be text, not ${typeof value}.`;
  if (!BREAKS.test(String(value))) return null;
  return `The ${field} of a server-sent event cannot have CR, LF or NUL: ${JSON.stringify(value)}.`;
}

/** Called with the problem of a skipped field. */
export type OnSkipped = (fault: string) => void;

/** Attack: CR or LF in an unmarked field would begin another one, so it is an error. Other invalid fields are skipped. */
function line(item: ServerSentEvent, field: "event" | "id" | "retry", onSkipped: OnSkipped): string {
  const value = item[field];
  const fault = faultOf(field, value);
  if (fault === null) return `${field}: ${String(value)}\n`;
  if (!isMarkedEvent(item) && typeof value === "string" && BREAKS.test(value)) throw new TypeError(fault);
  onSkipped(fault);
  return "";
}

/** The text of data: text as it is, anything else as JSON. */
function dataText(data: unknown): string {
  return typeof data === "string" ? data : (JSON.stringify(data) ?? "null");
}

/** An event as it is sent. @throws TypeError when a field of an unmarked event has CR, LF or NUL. */
export function encodeEvent(item: ServerSentEvent, onSkipped: OnSkipped): string {
  let text = typeof item.comment === "string" ? lines("", item.comment) : "";
  for (const field of ["event", "id", "retry"] as const) {
    if (item[field] !== undefined) text += line(item, field, onSkipped);
  }
  // Browsers drop an event without data: one that has only a name gets empty data.
  if (item.data !== undefined) text += lines("data", dataText(item.data));
  else if (item.event !== undefined) text += "data: \n";
  return `${text}\n`;
}

/**
 * A stream of server-sent events, as a browser's `EventSource` reads it. Each item is text, an event `{ data, event,
 * id, retry, comment }`, or anything else, which is sent as JSON. The head is sent with the first event, or after a
 * second at the latest.
 *
 * An object that has only these keys is an event, so wrap data from a client: `{ data: message }`.
 *
 * @example
 * ```ts
 * import { App, EventSourceResponse } from "tsgi";
 *
 * async function* ticks() {
 *   for (let id = 1; id <= 3; id++) yield { id, event: "tick", data: { at: Date.now() } };
 * }
 * const app = new App();
 * app.get("/ticks", async () => new EventSourceResponse(ticks()));
 * ```
 */
export class EventSourceResponse<Item = unknown> extends StreamingResponse<Item> {
  /** @internal */
  override readonly [PACE]: Pace;
  #logger: Pick<Logger, "warn"> = consoleLogger;
  #hasSkipped = false;

  /** @throws TypeError when the content cannot be iterated, or `keepAliveMs` is not a number of milliseconds. */
  constructor(content: StreamContent<Item>, { keepAliveMs = 15_000, ...options }: EventSourceOptions = {}) {
    super(content, options);
    if (!(keepAliveMs >= 0 && keepAliveMs <= MAX_TIMER_MS)) {
      throw new TypeError(`keepAliveMs should be milliseconds, 0 for never, not ${keepAliveMs}.`);
    }
    this[PACE] = { headMs: 1000, silenceMs: keepAliveMs, silence: KEEP_ALIVE };
    for (const [name, value] of EVENT_STREAM_HEADERS) if (!this.headers.has(name)) this.headers.set(name, value);
  }

  /** @internal */
  override [PREPARE](headOnly: boolean, request?: Request): Promise<Sender> {
    this.#logger = loggerOf(request?.scope.app);
    return super[PREPARE](headOnly, request);
  }

  /**
   * A client that has seen all events gets 204, because it would connect again after any other end.
   *
   * @see {@link https://html.spec.whatwg.org/multipage/server-sent-events.html#server-sent-events-intro | HTML §9.2.1}
   * @internal
   */
  protected override endedEarly(request: Request): void {
    if (lastEventId(request) === null || this.statusCode !== 200) return;
    this.statusCode = 204;
    this.headers.delete("content-type");
  }

  /** A source that has failed is reported as an event, since a cut makes clients connect again. @internal */
  protected override failurePart(error: unknown, request: Request | undefined): string | null {
    if (!isStreamFailure(error)) return null;
    return `event: error\ndata: ${writeError(request, { status: 500, detail: error[FAILURE], error }).text}\n\n`;
  }

  protected override encode(item: Item): Promise<string> | string {
    return this.encodeEvent(isMarkedEvent(item) || isServerSentEvent(item) ? item : { data: item ?? null });
  }

  /** Logs the first field that is skipped: an item may come from a client, which would fill the log. @internal */
  protected encodeEvent(item: ServerSentEvent): string {
    return encodeEvent(item, (fault) => {
      if (!this.#hasSkipped) this.#logger.warn({}, `${fault} It was skipped.`);
      this.#hasSkipped = true;
    });
  }
}

/** `X-Accel-Buffering: no` makes nginx send events at once. */
const EVENT_STREAM_HEADERS = [
  ["content-type", "text/event-stream"],
  ["cache-control", "no-store"],
  ["x-accel-buffering", "no"],
] as const;

/**
 * The `id` of the last event that a client saw before it connected again, or `null`. Browsers send it as UTF-8, so that
 * the header's own latin-1 text would be wrong for other scripts.
 *
 * @example
 * ```ts
 * import { App, EventSourceResponse, lastEventId, Request } from "tsgi";
 *
 * const app = new App();
 * app.get("/ticks", { params: { request: Request } }, async ({ request }) => {
 *   const last = Number(lastEventId(request) ?? 0);
 *   return new EventSourceResponse([{ id: last + 1, data: "the next one" }]);
 * });
 * ```
 */
export function lastEventId(request: Request): string | null {
  const value = request.header("last-event-id");
  return value === undefined ? null : (decodeUTF8(encodeLatin1(value)) ?? value);
}
