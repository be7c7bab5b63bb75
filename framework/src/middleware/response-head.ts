import type { HTTPResponseStartMessage, HTTPScope, Send } from "../asgi.js";
import { decodeLatin1, HeaderList } from "../datastructures.js";
import { JSONResponse, type HeadersInit, ResponseHeaders } from "../response.js";

/** The headers of a response that is about to start, to be read and changed. */
export function headersOf(message: HTTPResponseStartMessage): ResponseHeaders {
  const headers = new ResponseHeaders();
  if (message.headers instanceof HeaderList) {
    const { raw } = message.headers;
    for (let index = 0; index + 1 < raw.length; index += 2)
      headers.append(raw[index] as string, raw[index + 1] as string);
  } else {
    for (const [name, value] of message.headers ?? []) headers.append(decodeLatin1(name), decodeLatin1(value));
  }
  return headers;
}

/** A `send` that lets the headers of the response be changed on their way out. */
export function changingHeaders(send: Send, change: (headers: ResponseHeaders, status: number) => void): Send {
  return (message) => {
    if (message.type !== "http.response.start") return send(message);
    const headers = headersOf(message);
    change(headers, message.status);
    return send({ ...message, headers: headers.toList() });
  };
}

/** Answers in the application's place, in the shape of every error: `{"detail": …}`. */
export async function refuse(
  scope: HTTPScope,
  send: Send,
  statusCode: number,
  detail: string,
  headers?: HeadersInit,
): Promise<void> {
  await new JSONResponse({ detail }, { statusCode, headers }).send(send, scope.method === "HEAD");
}
