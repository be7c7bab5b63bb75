/** A client of HTTP/2 whose request bodies wait for the windows of the server. @module */
import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from "node:http2";
import type { ClientResponse, TextHeaders } from "@tsgi/conformance";
import { Lost, type Request } from "./_driver.js";

async function sendParts(stream: ClientHttp2Stream, body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const part of body) {
    if (!stream.write(part)) await once(stream, "drain");
  }
  stream.end();
}

/** `node:http2` has repeated names in one list. */
function toFields(headers: TextHeaders): Record<string, string[]> {
  const fields: Record<string, string[]> = {};
  for (const [name, value] of headers) (fields[name] ??= []).push(value);
  return fields;
}

function toHeaders(fields: IncomingHttpHeaders): TextHeaders {
  return Object.entries(fields)
    .filter(([name]) => !name.startsWith(":"))
    .flatMap(([name, value = ""]) => [value].flat().map((text) => [name, text] as const));
}

async function* readBody(stream: ClientHttp2Stream): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* stream as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw new Lost(error);
  }
}

/** A client of one server, with one connection. */
export class HTTP2Client {
  readonly #url: string;
  #session: ClientHttp2Session | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  readonly request = ({
    method = "GET",
    target = "/",
    headers = [],
    body,
    signal,
  }: Request): Promise<ClientResponse> => {
    this.#session ??= connect(this.#url).on("error", () => {});
    const fields = { ...toFields(headers), ":method": method, ":path": target };
    const stream = this.#session.request(fields, { endStream: body === undefined });
    signal?.addEventListener("abort", () =>
      stream.destroy(Object.assign(new Error("aborted"), { name: "AbortError" })),
    );
    if (body) sendParts(stream, body).catch(() => stream.destroy());
    return new Promise((resolve, reject) => {
      stream.on("error", (error) => reject(new Lost(error)));
      stream.on("close", () => reject(new Lost()));
      stream.on("response", (fieldsOfResponse) => {
        const status = Number(fieldsOfResponse[":status"]);
        resolve({ status, headers: toHeaders(fieldsOfResponse), body: readBody(stream) });
      });
    });
  };

  readonly cut = (): void => this.#session?.destroy();
}
