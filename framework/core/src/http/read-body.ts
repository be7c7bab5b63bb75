/** The body of a success, by its media type. @module */
import { responseFacts } from "../protocol/response.js";

/** The lines of a body, each without what ends it. Leaving the loop cancels the body, so that the server stops. */
async function* linesOf(body: ReadableStream<Uint8Array>, end: RegExp): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  let held = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const text = held + decoder.decode(value, { stream: !done });
      held = !done && text.endsWith("\r") ? "\r" : ""; // an LF may follow
      // The text before is not split again: a long line in small chunks would take quadratic time.
      const [first = "", ...others] = text.slice(0, text.length - held.length).split(end);
      rest += first;
      for (const line of others) {
        yield rest;
        rest = line;
      }
      if (done) break;
    }
    if (rest !== "") yield rest;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** The values of JSON Lines. */
async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown, void, undefined> {
  for await (const line of linesOf(body, /\r?\n/)) if (line.trim() !== "") yield JSON.parse(line);
}

/** The value of an event's data. Text is sent as it is, anything else as JSON. */
function valueOf(data: string): unknown {
  try {
    const value: unknown = JSON.parse(data);
    return value;
  } catch {
    return data;
  }
}

/** CR without LF ends a line too (HTML §9.2.5). */
const EVENT_LINE = /\r\n|\n|\r/;

/** HTML §9.2.5: a field without a colon has no value. */
function fieldOf(line: string): readonly [name: string, value: string] {
  const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
  return [name, value];
}

/** One event of a stream: its name and id if the server sent them, and the value of its JSON or its text. */
export interface ReceivedEvent {
  readonly event?: string;
  readonly id?: string;
  readonly data: unknown;
}

/** Receives the parts of a stream that are not events. */
interface StreamListener {
  /** The id of a block, even if it has no data. An empty id resets the last one. */
  onId(id: string): void;
  /** The milliseconds after which the server wants its clients to connect again. */
  onRetry(ms: number): void;
}

const IGNORED: StreamListener = { onId() {}, onRetry() {} };

/**
 * The events of a stream.
 *
 * @see {@link https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation | HTML §9.2.6}
 */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
  listener: StreamListener = IGNORED,
): AsyncGenerator<ReceivedEvent, void, undefined> {
  let fields: { event?: string; id?: string; data: string[] } = { data: [] };
  for await (const line of linesOf(body, EVENT_LINE)) {
    if (line === "") {
      const { data, ...rest } = fields;
      fields = { data: [] };
      if (rest.id !== undefined) listener.onId(rest.id);
      if (data.length > 0) yield { ...rest, data: valueOf(data.join("\n")) };
      continue;
    }
    const [name, value] = fieldOf(line);
    if (name === "data") fields.data.push(value);
    else if (name === "event" || (name === "id" && !value.includes("\0"))) fields[name] = value;
    else if (name === "retry" && /^\d+$/.test(value)) listener.onRetry(Number(value));
  }
}

/** Each event that has a name as `{ event, data, id? }`, each other as its data. */
async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown, void, undefined> {
  for await (const received of readServerSentEvents(body)) {
    yield received.event === undefined ? received.data : received;
  }
}

/** RFC 6839 §3.1: the suffix says JSON as well. */
const JSON_TYPE = /^application\/(?:json|[^;]+\+json)$/;

/** Line by line: JSON Lines, and the names that others give it. */
const LINES = new Set(["application/jsonl", "application/x-ndjson", "application/x-jsonlines"]);

function mediaTypeOf({ headers }: Response): string {
  return headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/**
 * Reads JSON to its value, a stream item by item, text to a string, and anything else to a `Blob`. An empty body is
 * `undefined` only where JSON is expected.
 */
export async function readBody(response: Response, method: string): Promise<unknown> {
  if (responseFacts(response.status, method).bodyless) return undefined;
  const body = response.body ?? new Blob([]).stream();
  const type = mediaTypeOf(response);
  if (LINES.has(type)) return readLines(body);
  if (type === "text/event-stream") return readEvents(body);
  if (type === "" || JSON_TYPE.test(type)) {
    const text = await response.text();
    return text === "" ? undefined : JSON.parse(text);
  }
  return type.startsWith("text/") ? response.text() : response.blob();
}
