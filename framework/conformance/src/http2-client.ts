/** Servers behind a port that speaks HTTP/2. @module */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from "node:http2";
import type { ClientRequest, ClientResponse, StartedServer } from "./client.js";
import type { TextHeaders } from "./bytes.js";

function toHeaders(fields: IncomingHttpHeaders): TextHeaders {
  return Object.entries(fields)
    .filter(([name]) => !name.startsWith(":"))
    .flatMap(([name, value = ""]) => [value].flat().map((text) => [name, text] as const));
}

async function sendParts(stream: ClientHttp2Stream, body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const part of body) stream.write(part);
  stream.end();
}

/** Names and values, repeated names in one list: `node:http2` has no other form of them. */
function toFields(headers: TextHeaders): Record<string, string[]> {
  const fields: Record<string, string[]> = {};
  for (const [name, value] of headers) (fields[name] ??= []).push(value);
  return fields;
}

function send(session: ClientHttp2Session, request: ClientRequest): Promise<ClientResponse> {
  const { method = "GET", target = "/", headers = [], body, signal } = request;
  const fields = { ...toFields(headers), ":method": method, ":path": target };
  const stream = session.request(fields, { endStream: body === undefined });
  signal?.addEventListener("abort", () => stream.close(8)); // CANCEL: RFC 9113 §7
  if (body) sendParts(stream, body).catch(() => stream.destroy());
  return new Promise((resolve, reject) => {
    stream.on("error", reject);
    stream.on("close", () => reject(new Error("The stream ended without a response.")));
    stream.on("response", (answer) => {
      resolve({ status: Number(answer[":status"]), headers: toHeaders(answer), body: stream });
    });
  });
}

/**
 * A server that a check reaches over TCP in HTTP/2 without TLS, from the preface on (prior knowledge: RFC 9113 §3.3).
 *
 * @param url - The address: `http://127.0.0.1:8000`.
 * @param stop - Stops the server.
 * @example
 * ```ts
 * import { checkServer, overHTTP2 } from "@tsgi/conformance";
 * import { serve } from "tsgi/node";
 *
 * const results = await checkServer(async (app) => {
 *   const server = await serve(app, { port: 0, signals: false, http2: true });
 *   return overHTTP2(server.url, () => server.close());
 * }, { "websocket": "node:http2 does not open WebSockets" });
 * ```
 */
export function overHTTP2(url: string, stop: () => Promise<void> = async () => {}): StartedServer {
  let session: ClientHttp2Session | null = null;
  return {
    async request(request) {
      session ??= connect(url).on("error", () => {});
      return send(session, request);
    },
    async close() {
      session?.destroy();
      await stop();
    },
  };
}
