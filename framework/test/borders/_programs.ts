/** The same routes on tsgi and on Fastify, which is the peer of the page. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import fastify from "fastify";
import { App, Body, Cookie, Header, Query, Request, Response, StreamingResponse, t } from "tsgi";
import { serve } from "tsgi/node";
import { KeptLog } from "../support/kept-log.js";

/** A program that listens. */
export interface Program extends AsyncDisposable {
  readonly port: number;
}

/** A server that sends compressed JSON, which `fetch` decodes. */
export async function startUpstream(): Promise<Program> {
  const server = createServer((_req, res) => {
    res.writeHead(200, { "Content-Type": "application/json", "Content-Encoding": "gzip" }).end(gzipSync('{"a":1}'));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

const THROWN: Readonly<Record<string, unknown>> = {
  text: "text",
  null: null,
  "http-errors": Object.assign(new Error("No such item"), { status: 404, statusCode: 404, expose: true }),
};

async function* brokenStream(): AsyncGenerator<string, void, undefined> {
  yield "one";
  throw new Error("broken");
}

const HEADERS: Readonly<Record<string, string>> = { crlf: "a\r\nb: c", unicode: "\u20ac" };
const RESULTS: Readonly<Record<string, unknown>> = {
  bigint: { a: 1n },
  undefined: undefined,
  date: { at: new Date(Number.NaN) },
};

export async function startTsgi(upstream: string): Promise<Program> {
  const app = new App({ logger: new KeptLog() });
  app.get("/items/{id}", async ({ id }) => ({ id }));
  app.get("/query", { params: { name: Query({ default: null }) } }, async ({ name }) => ({ name }));
  app.get("/client", { params: { request: Request } }, async ({ request }) => ({
    client: request.client?.host,
  }));
  app.get("/host", { params: { request: Request } }, async ({ request }) => ({ host: new URL(request.url).hostname }));
  app.get("/cookie", { params: { id: Cookie() } }, async ({ id }) => ({ id }));
  app.get("/header", { params: { name: Header({ alias: "x-name" }) } }, async ({ name }) => ({ name }));
  app.post("/body", { params: { body: Body(t.Unknown()) } }, async ({ body }) => ({ body }));
  app.get("/throws/late", async () => new StreamingResponse(brokenStream()));
  app.get("/throws/{kind}", async ({ kind }) => {
    throw THROWN[kind];
  });
  app.get("/result/fetched", async () => fetch(upstream));
  app.get("/result/{kind}", async ({ kind }) => {
    const header = HEADERS[kind];
    return header === undefined ? RESULTS[kind] : new Response("{}", { headers: { "x-name": header } });
  });
  const server = await serve(app, { port: 0, host: "127.0.0.1", logger: new KeptLog() });
  return { port: Number(new URL(server.url).port), [Symbol.asyncDispose]: () => server.close() };
}

export async function startFastify(upstream: string): Promise<Program> {
  const app = fastify({ logger: false });
  app.get<{ Params: { id: string } }>("/items/:id", async ({ params: { id } }) => ({ id }));
  app.get<{ Querystring: { name?: string } }>("/query", async ({ query: { name = null } }) => ({ name }));
  app.get("/client", async ({ ip }) => ({ client: ip.replace("::ffff:", "") }));
  app.get("/host", async ({ hostname }) => ({ host: hostname }));
  app.get("/cookie", async ({ headers: { cookie } }) => ({ cookie }));
  app.get("/header", async ({ headers }) => ({ name: headers["x-name"] }));
  app.post("/body", async ({ body }) => ({ body }));
  app.get("/throws/late", async () => Readable.from(brokenStream()));
  app.get<{ Params: { kind: string } }>("/throws/:kind", async ({ params: { kind } }) => {
    throw THROWN[kind];
  });
  app.get("/result/fetched", async () => fetch(upstream));
  app.get<{ Params: { kind: string } }>("/result/:kind", async ({ params: { kind } }) => {
    return RESULTS[kind];
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  return {
    port: (app.server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      await app.close();
    },
  };
}
