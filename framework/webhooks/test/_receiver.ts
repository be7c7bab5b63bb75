/** A receiver of webhooks on loopback, whose certificate the tests trust. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import tls from "node:tls";
import { text } from "node:stream/consumers";
import type { Logger } from "tsgi";

const fixture = (name: string) =>
  readFileSync(path.join(import.meta.dirname, "../../core/test/platforms/node/fixtures", name));
const cert = fixture("localhost.cert.pem");

// In a program, NODE_EXTRA_CA_CERTS has this effect. It is read when the process starts.
const createSecureContext = tls.createSecureContext.bind(tls);
tls.createSecureContext = (options) => createSecureContext({ ...options, ca: cert });

/** A request as it was received. */
export interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly path: string;
}

/** Responds to a request; by default with 204. */
export type Respond = (response: ServerResponse, request: IncomingMessage) => void;

/** 32 bytes in base64, as a sender shows them. */
export const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

export const LOOPBACK = ["127.0.0.0/8"];

/** Starts a receiver. Its responses are taken one after the other, and the last one again. */
export async function openReceiver(...responses: readonly Respond[]) {
  const received: Received[] = [];
  const server = createServer({ cert, key: fixture("localhost.key.pem") }, (request, response) => {
    void text(request).then((body) => {
      const respond = responses[Math.min(received.length, responses.length - 1)];
      received.push({ headers: request.headers as Record<string, string>, body, path: request.url ?? "" });
      if (respond === undefined) response.writeHead(204).end();
      else respond(response, request);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    received,
    port,
    url: `https://localhost:${port}/hooks`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const status =
  (code: number, headers: Record<string, string> = {}): Respond =>
  (response) =>
    void response.writeHead(code, headers).end("no details");

/** A log that a test can read. */
export function createLog() {
  const lines: string[] = [];
  const keep = (level: string) => (_fields: object, message: string) => void lines.push(`${level} ${message}`);
  const logger: Logger = { debug: () => {}, info: keep("info"), warn: keep("warn"), error: keep("error") };
  return { ...logger, lines };
}
