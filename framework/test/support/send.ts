/** One request to a server over a socket, and its response read to the end. */
import { once } from "node:events";
import { request, type ClientRequest, type IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { type Answer, createAnswer, outgoingOf, type Sent } from "./call.js";

/** Headers that a server adds to any response, or that describe only its connection. */
const ABOUT_THE_CONNECTION = new Set(["connection", "date", "keep-alive", "transfer-encoding"]);

/**
 * Sends one request to a server, on a separate connection.
 *
 * @param onConnect - Gets the port of this end.
 */
export async function sendTo(
  url: string,
  method: string,
  target: string,
  sent: Sent = {},
  onConnect: (port: number) => void = () => {},
): Promise<Answer> {
  const { headers, chunks } = outgoingOf(sent);
  const { hostname, port, host } = new URL(url);
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  const raw = headers.flat();
  const length = chunks[0]?.length ?? 0;
  if (!given.has("host")) raw.push("host", host);
  if (sent.chunks) raw.push("transfer-encoding", "chunked");
  else if (!given.has("content-length") && (length > 0 || !/^(?:GET|HEAD)$/.test(method))) {
    raw.push("content-length", String(length));
  }
  const sending = request({ hostname, port, method, path: target, headers: raw, agent: false });
  sending.once("socket", (socket) => socket.once("connect", () => onConnect(socket.localPort ?? 0)));
  return answerTo(sending, chunks);
}

async function answerTo(sending: ClientRequest, chunks: readonly Uint8Array[]): Promise<Answer> {
  const responded = once(sending, "response") as Promise<[IncomingMessage]>;
  sending.on("error", () => {}); // a rejection may interrupt the sending, but the response has arrived
  for (const chunk of chunks) sending.write(chunk);
  sending.end();
  const [response] = await responded;
  const body = Buffer.concat((await response.toArray()) as Buffer[]);
  const lines: [string, string][] = [];
  for (let index = 0; index < response.rawHeaders.length; index += 2) {
    const name = response.rawHeaders[index] as string;
    if (!ABOUT_THE_CONNECTION.has(name.toLowerCase())) lines.push([name, response.rawHeaders[index + 1] as string]);
  }
  return createAnswer(response.statusCode ?? 0, lines, body);
}

/** The same over HTTP/2. */
export async function sendOverHTTP2(
  url: string,
  method: string,
  target: string,
  sent: Sent = {},
  onConnect: (port: number) => void = () => {},
): Promise<Answer> {
  const { headers, chunks } = outgoingOf(sent);
  const session = connect(url);
  session.on("error", () => {}); // the request fails as well
  session.once("connect", (_session, { localPort }) => onConnect(localPort ?? 0));
  const fields: Record<string, string | string[]> = { ":method": method, ":path": target };
  for (const [name, written] of headers) {
    const value = written.replaceAll(/^[\t ]+|[\t ]+$/g, ""); // as an HTTP/2 client has to send it
    const before = fields[name];
    fields[name] = before === undefined ? value : [before, value].flat();
  }
  const length = chunks[0]?.length ?? 0;
  if (length > 0 && !sent.chunks) fields["content-length"] ??= String(length);
  const stream = session.request(fields, { endStream: length === 0 && !sent.chunks });
  const lines: [string, string][] = [];
  stream.on("response", (_headers: unknown, _flags: number, raw: readonly string[]) => {
    for (let index = 0; index < raw.length; index += 2) lines.push([raw[index] as string, raw[index + 1] as string]);
  });
  if (!stream.writableEnded) {
    for (const chunk of chunks) stream.write(chunk);
    stream.end();
  }
  try {
    const body = Buffer.concat((await stream.toArray()) as Buffer[]);
    const kept = lines.filter(([name]) => !name.startsWith(":") && !ABOUT_THE_CONNECTION.has(name));
    return createAnswer(Number(lines[0]?.[1]), kept, body);
  } finally {
    session.destroy();
  }
}
