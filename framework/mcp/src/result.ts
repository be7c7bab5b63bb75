/** The result of a tool, built from the response of its route. @module */
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import { isRecord, parseMediaType, readBody, statusPhrase } from "tsgi/internals";

/** Reads each chunk of a stream as it arrives. */
export type OnItem = (text: string, count: number) => Promise<void>;

/**
 * Creates the result of a response. From status 300 on it is an error.
 *
 * @param uri - Identifies a response that is not text, an image or audio.
 */
export async function toResult(response: Response, uri: string, onItem: OnItem): Promise<CallToolResult> {
  const { status, headers } = response;
  const body = await readBody(response, "GET");
  const value = isStream(body) ? await collect(body, onItem) : body;
  if (status >= 300) return errorResult(status, headers.get("location") ?? value);
  if (value instanceof Blob) return { content: [await contentOf(value, uri)] };
  const text = value === undefined ? `${status} ${statusPhrase(status)}` : textOf(value);
  return { content: [{ type: "text", text }], ...(isRecord(value) && { structuredContent: value }) };
}

/**
 * An error for an agent: `422 Unprocessable Entity: query.limit: Input should be a valid integer`, then a body that is an
 * object. It has no structured content, which would have to match the output schema of the tool (MCP, Tools).
 */
export function errorResult(status: number, body: unknown): CallToolResult {
  const members = isRecord(body) ? body : { detail: body };
  const { detail = members["title"] ?? [] } = members;
  const reasons = (Array.isArray(detail) ? detail : [detail]).map(describe).join("; ");
  const text = [`${status} ${statusPhrase(status)}`, ...(reasons === "" ? [] : [reasons])].join(": ");
  const texts = isRecord(body) ? [text, JSON.stringify(body)] : [text];
  return { isError: true, content: texts.map((one) => ({ type: "text", text: one })) };
}

function describe(fault: unknown): string {
  const isFault = isRecord(fault) && Array.isArray(fault["loc"]);
  return isFault ? `${(fault["loc"] as unknown[]).join(".")}: ${String(fault["msg"])}` : textOf(fault);
}

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

const isStream = (body: unknown): body is AsyncIterable<unknown> => isRecord(body) && Symbol.asyncIterator in body;

/** Each item goes to the listener, and all of them into the result. */
async function collect(stream: AsyncIterable<unknown>, onItem: OnItem): Promise<{ items: unknown[] }> {
  const items: unknown[] = [];
  for await (const item of stream) await onItem(textOf(item), items.push(item));
  return { items };
}

/** Bytes as the content of their type. */
async function contentOf(blob: Blob, uri: string): Promise<ContentBlock> {
  const mimeType = parseMediaType(blob.type) || "application/octet-stream";
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const data = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const [kind = ""] = mimeType.split("/");
  if (kind === "image" || kind === "audio") return { type: kind, data, mimeType };
  if (/[/+](?:xml|yaml)$/.test(mimeType)) return { type: "text", text: await blob.text() };
  return { type: "resource", resource: { uri, mimeType, blob: data } };
}

/** A response that fails with a RangeError beyond the limit. One that has no type is text. */
export function limit({ body, status, headers }: Response, maxBytes: number): Response {
  let bytes = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new RangeError(`The response has more than ${maxBytes} bytes.`);
      controller.enqueue(chunk);
    },
  });
  const typed = { "content-type": "text/plain", ...Object.fromEntries(headers) };
  return new Response(body?.pipeThrough(counted), { status, headers: typed });
}
