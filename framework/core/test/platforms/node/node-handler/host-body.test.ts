import { gzipSync } from "node:zlib";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { describe, expect, it } from "@jest/globals";
import { toNodeHandler } from "../../../../src/node.js";
import { httpApp, MemoryLogger, readBody, respond } from "../_http.js";
import type { HeaderList } from "../../../../src/protocol/header-list.js";

/** The headers and the body that an application gets, after a parser has read the request and set `body`. */
async function received(sent: RequestInit & { duplex?: "half" }, parse: (bytes: Buffer) => unknown) {
  const logger = new MemoryLogger();
  const app = httpApp(async (scope, receive, send) => {
    const body = await readBody(receive);
    const { raw } = scope.headers as HeaderList;
    const headers = Object.fromEntries(raw.flatMap((name, at) => (at % 2 ? [] : [[name.toLowerCase(), raw[at + 1]]])));
    await respond(send, 200, JSON.stringify({ headers, body: body.toString("latin1") }));
  });
  const handler = toNodeHandler(app, { logger });
  const parser: RequestListener = (req: IncomingMessage & { body?: unknown }, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      req.body = parse(Buffer.concat(chunks));
      handler(req, res);
    });
  };
  await using server = createServer(parser).listen(0, "127.0.0.1");
  await once(server, "listening");
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    method: "POST",
    ...sent,
    headers: { connection: "close", ...(sent.headers as Record<string, string>) },
  });
  const text = await response.text();
  if (response.status !== 200) return { status: response.status, log: logger.at("error") };
  return JSON.parse(text) as { headers: Record<string, string>; body: string };
}

const type = (name: string) => ({ "content-type": name });
const utf8 = (text: string) => Buffer.from(text).toString("latin1");

describe("a body that the host has read", () => {
  it("is the bytes of the parser, with their own length", async () => {
    const { headers, body } = (await received({ body: "hello", headers: type("application/octet-stream") }, (bytes) =>
      bytes.subarray(1),
    )) as { headers: Record<string, string>; body: string };
    expect([body, headers["content-length"]]).toEqual(["ello", "4"]);
  });

  it("keeps Content-Encoding of bytes that have the length of the request, and loses it if they were decoded", async () => {
    const body = gzipSync("hello hello hello");
    const headers = { ...type("text/plain"), "content-encoding": "gzip" };
    expect(await received({ body, headers }, (bytes) => bytes)).toMatchObject({
      headers: { "content-encoding": "gzip", "content-length": String(body.length) },
    });
    const decoded = await received({ body, headers }, () => Buffer.from("hello hello hello"));
    expect(decoded).toMatchObject({ headers: { "content-length": "17" }, body: "hello hello hello" });
    expect(decoded).not.toHaveProperty(["headers", "content-encoding"]);
  });

  it("is a string in UTF-8, with this charset", async () => {
    const sent = {
      body: Buffer.from("caf\u00e9", "latin1"),
      headers: type("text/plain; charset=iso-8859-1; format=flowed"),
    };
    expect(await received(sent, (bytes) => bytes.toString("latin1"))).toMatchObject({
      headers: { "content-type": "text/plain; charset=utf-8; format=flowed", "content-length": "5" },
      body: utf8("café"),
    });
  });

  it.each([
    ["application/json", { name: "café" }, '{"name":"café"}'],
    ["application/merge-patch+json", [1], "[1]"],
    ["APPLICATION/JSON; charset=utf-8", null, "null"],
    ["application/json", 0, "0"],
    ["application/json", false, "false"],
    [
      "application/x-www-form-urlencoded",
      { a: ["1", "2"], b: { c: "é &" }, d: null },
      "a=1&a=2&b%5Bc%5D=%C3%A9+%26&d=",
    ],
  ])("is written again as %s: %j", async (name, value, text) => {
    const sent = { body: "{}    ", headers: type(name) };
    expect(await received(sent, () => value)).toMatchObject({
      headers: { "content-type": name, "content-length": String(Buffer.byteLength(text)) },
      body: utf8(text),
    });
  });

  it("has a length in place of chunks and of an encoding", async () => {
    const body = new ReadableStream({
      start: (controller) => {
        controller.enqueue(gzipSync("{}"));
        controller.close();
      },
    });
    const sent = {
      body,
      duplex: "half" as const,
      headers: { ...type("application/json"), "content-encoding": "gzip" },
    };
    const { headers } = (await received(sent, () => ({ a: 1 }))) as { headers: Record<string, string> };
    expect(headers["content-length"]).toBe("7");
    expect(headers).not.toHaveProperty("transfer-encoding");
    expect(headers).not.toHaveProperty("content-encoding");
  });

  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  it.each([
    ["multipart/form-data; boundary=a", { a: "1" }],
    ["text/plain", { a: "1" }],
    ["application/json", undefined],
    ["application/json", circular],
    ["application/x-www-form-urlencoded", circular],
    ["application/x-www-form-urlencoded", ["a"]],
    ["application/x-www-form-urlencoded", 7],
  ])("is a 500 and one line of log if it cannot be written as %s: %j", async (name, value) => {
    expect(await received({ body: "x", headers: type(name) }, () => value)).toMatchObject({
      status: 500,
      log: [{ fields: { err: { message: expect.stringContaining("install this handler before body parsers") } } }],
    });
  });

  it("stays empty if the request is", async () => {
    expect(await received({ body: "", headers: type("application/json") }, () => ({}))).toMatchObject({ body: "" });
  });
});
