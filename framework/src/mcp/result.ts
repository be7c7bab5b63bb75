/** The result of a tool, made of the answer of its route. @module */
import { statusPhrase } from "../exceptions.js";
import { parseMediaType } from "../http-grammar.js";
import { isRecord } from "./schemas.js";

/** The result of a tool, as the protocol has it. */
export interface ToolResult {
  content: { type: "text"; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  [member: string]: unknown;
}

/** The bound and the listener of one result. */
export interface ResultSettings {
  /** The most bytes of an answer that become a result. */
  readonly maxBytes: number;
  /** Takes each part of a stream as it comes. */
  readonly onItem: (text: string, count: number) => Promise<void>;
}

/** Parts of a stream, by its media type: events end with an empty line (HTML §9.2.6), JSON Lines with the line. */
const SEPARATORS: ReadonlyMap<string, RegExp> = new Map([
  ["text/event-stream", /\r\n\r\n|\n\n|\r\r/],
  ["application/jsonl", /\r?\n/],
]);

/** Makes the result of an answer. From status 300 on it is an error, with the members of the body beside `status`. */
export async function toResult(response: globalThis.Response, settings: ResultSettings): Promise<ToolResult> {
  const { status, headers } = response;
  const mediaType = parseMediaType(headers.get("content-type") ?? undefined);
  const separator = status < 300 ? SEPARATORS.get(mediaType) : undefined;
  if (separator) return streamResult(partsOf(response, settings.maxBytes, separator), settings);
  let text = "";
  for await (const part of partsOf(response, settings.maxBytes, null)) text += part;
  const value = readJSON(text);
  if (status >= 300) return errorResult(status, headers.has("location") ? headers.get("location") : value);
  const shown = text === "" ? `${status} ${statusPhrase(status)}` : text;
  return { content: [{ type: "text", text: shown }], ...(isRecord(value) ? { structuredContent: value } : {}) };
}

/** A fault as an agent reads it: `422 Unprocessable Entity: query.limit: Input should be a valid integer`. */
export function errorResult(status: number, body: unknown): ToolResult {
  const members = isRecord(body) ? body : { detail: body };
  const { detail = members["title"] ?? "" } = members;
  const reason = (Array.isArray(detail) ? detail : [detail]).map(describe).join("; ");
  const text = `${status} ${statusPhrase(status)}${reason === "" ? "" : `: ${reason}`}`;
  return { isError: true, content: [{ type: "text", text }], structuredContent: { ...members, status } };
}

function describe(fault: unknown): string {
  if (typeof fault === "string") return fault;
  const isFault = isRecord(fault) && Array.isArray(fault["loc"]);
  return isFault ? `${(fault["loc"] as unknown[]).join(".")}: ${String(fault["msg"])}` : JSON.stringify(fault);
}

/** Each part goes to the listener, and all of them into the result. */
async function streamResult(parts: AsyncIterable<string>, { onItem }: ResultSettings): Promise<ToolResult> {
  const items: unknown[] = [];
  const texts: string[] = [];
  for await (const part of parts) {
    const [text, item] = part.startsWith("{") ? [part, readJSON(part)] : eventOf(part);
    if (text === null) continue;
    items.push(item);
    texts.push(text);
    await onItem(text, items.length);
  }
  return { content: [{ type: "text", text: texts.join("\n") }], structuredContent: { items } };
}

/** The text of an event, and its data, with its name where it has one. A comment has no text. */
function eventOf(part: string): [text: string | null, item: unknown] {
  const fields = part.split(/\r\n|\r|\n/).map((line) => /^(data|event)(?:: ?(.*))?$/.exec(line));
  const valuesOf = (name: string) => fields.flatMap((field) => (field?.[1] === name ? [field[2] ?? ""] : []));
  const data = valuesOf("data");
  if (data.length === 0) return [null, null];
  const text = data.join("\n");
  const event = valuesOf("event").at(-1);
  return [text, event === undefined ? readJSON(text) : { event, data: readJSON(text) }];
}

/** The text of an answer, in the parts of a stream. @throws RangeError beyond the bound. */
async function* partsOf(
  { body }: globalThis.Response,
  maxBytes: number,
  separator: RegExp | null,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let rest = "";
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new RangeError(`The answer has more than ${maxBytes} bytes.`);
    rest += decoder.decode(chunk, { stream: true });
    if (separator === null) continue;
    const parts = rest.split(separator);
    rest = parts.pop() ?? "";
    yield* parts.filter((part) => part !== "");
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}

/** The value of a JSON text; any other text as it is. */
function readJSON(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
