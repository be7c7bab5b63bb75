import { decodeUTF8, encodeLatin1, encodeUTF8 } from "../datastructures.js";
import type { Request } from "../request.js";
import type { ResponseOptions } from "./response.js";
import { PACE, type Pace, type StreamContent, StreamingResponse } from "./streaming.js";

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

/** Tells if an item is an event, not data: an object with nothing but an event's fields, and more than an `id`. */
export function isServerSentEvent(item: unknown): item is ServerSentEvent {
  if (typeof item !== "object" || item === null || Array.isArray(item)) return false;
  const names = Object.keys(item);
  return names.length > 0 && names.every((name) => FIELDS.has(name)) && !(names.length === 1 && names[0] === "id");
}

/** HTML §9.2.5: any of these ends a line. */
const LINE_END = /\r\n|\r|\n/;

function lines(field: string, text: string): string {
  if (!LINE_END.test(text)) return `${field}: ${text}\n`;
  return text
    .split(LINE_END)
    .map((part) => `${field}: ${part}\n`)
    .join("");
}

/** A field of one line. Attack: CR or LF would begin another field; clients ignore an `id` with NUL. */
function line(field: string, value: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/[\r\n\u0000]/.test(value)) {
    throw new TypeError(`The ${field} of a server-sent event cannot have CR, LF or NUL: ${JSON.stringify(value)}.`);
  }
  return `${field}: ${value}\n`;
}

function retryLine(retry: number): string {
  if (!Number.isSafeInteger(retry) || retry < 0) {
    throw new TypeError(`The retry of a server-sent event should be whole milliseconds, not ${retry}.`);
  }
  return line("retry", String(retry));
}

/** The text of data: text as it is, anything else as JSON. */
function dataText(data: unknown): string {
  return typeof data === "string" ? data : (JSON.stringify(data) ?? "null");
}

/** An event as it travels. @throws TypeError when a field cannot travel. */
export function encodeEvent({ data, event, id, retry, comment }: ServerSentEvent): string {
  let text = comment === undefined ? "" : lines("", comment);
  if (event !== undefined) text += line("event", event);
  if (id !== undefined) text += line("id", String(id));
  if (retry !== undefined) text += retryLine(retry);
  // Browsers drop an event without data: one that has a name alone gets empty data.
  if (data !== undefined) text += lines("data", dataText(data));
  else if (event !== undefined) text += "data: \n";
  return `${text}\n`;
}

/**
 * A stream of server-sent events, as a browser's `EventSource` reads it. Each item is text, `{ data, event, id, retry,
 * comment }`, or anything else, which is sent as JSON. The head goes out with the first event, after a second at the latest.
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

  /** @throws TypeError when the content cannot be iterated, or `keepAliveMs` is not a number of milliseconds. */
  constructor(content: StreamContent<Item>, { keepAliveMs = 15_000, ...options }: EventSourceOptions = {}) {
    super(content, options);
    if (!(keepAliveMs >= 0 && keepAliveMs < 2 ** 31)) {
      throw new TypeError(`keepAliveMs should be milliseconds, 0 for never, not ${keepAliveMs}.`);
    }
    this[PACE] = { headMs: 1000, silenceMs: keepAliveMs, silence: KEEP_ALIVE };
    for (const [name, value] of EVENT_STREAM_HEADERS) if (!this.headers.has(name)) this.headers.set(name, value);
  }

  protected override encode(item: Item): Promise<string> | string {
    return encodeEvent(isServerSentEvent(item) ? item : { data: item ?? null });
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
