/** The body of a success, by its media type. @module */
import { responseFacts } from "../protocol/response-facts.js";
import { readEvents, readLines } from "./streams.js";

/** RFC 6839 §3.1: the suffix says JSON as well. */
const JSON_TYPE = /^application\/(?:json|[^;]+\+json)$/;

/** Line by line: JSON Lines, and the names that others give it. */
const LINES = new Set(["application/jsonl", "application/x-ndjson", "application/x-jsonlines"]);

function mediaTypeOf({ headers }: Response): string {
  return headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Reads JSON to its value, a stream item by item, text to a string, and anything else to a `Blob`. */
export async function readBody(response: Response, method: string): Promise<unknown> {
  const { body, status } = response;
  if (body === null || responseFacts(status, method).bodyless) return undefined;
  const type = mediaTypeOf(response);
  if (LINES.has(type)) return readLines(body);
  if (type === "text/event-stream") return readEvents(body);
  if (type === "" || JSON_TYPE.test(type)) {
    const text = await response.text();
    return text === "" ? undefined : JSON.parse(text);
  }
  return type.startsWith("text/") ? response.text() : response.blob();
}
