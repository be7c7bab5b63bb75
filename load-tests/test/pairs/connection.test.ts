import { afterEach, describe, expect, it } from "@jest/globals";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { EXAMPLES, type Example } from "../../src/examples.js";
import { type Case, toCase } from "../../src/http/case.js";
import { Connection, readAnswer, toWire } from "../../src/pairs/connection.js";

const post = toCase(EXAMPLES.find(({ method }) => method === "POST") as Example);
let server: Server;

async function listen(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** The outcomes of requests on one connection, one after the other. */
async function sendMany(url: string, count: number, one: Case = post): Promise<string[]> {
  const connection = await Connection.open(url, one, one.isConstant ? await readAnswer(url, toWire(url, one)) : null);
  const outcomes: string[] = [];
  for (let sent = 0; sent < count; sent++) {
    const outcome = await new Promise<string>((resolve) => {
      connection.onAnswer = () => resolve("right");
      connection.onFault = resolve;
      connection.send();
    });
    outcomes.push(outcome);
  }
  connection.close();
  return outcomes;
}

describe("a request on the wire", () => {
  it("arrives with its method, path, type and body", async () => {
    const url = await listen((request, response) => {
      request.setEncoding("utf8");
      request.once("data", (body: string) => {
        response.setHeader("content-type", "text/plain");
        response.end(`${request.method} ${request.url} ${request.headers["content-type"]} ${body}`);
      });
    });
    expect(await readAnswer(url, toWire(url, post))).toMatchObject({
      status: 200,
      headers: { "content-type": "text/plain" },
      body: `POST /users application/json ${post.body}`,
    });
  });

  it("gets a chunked response as well", async () => {
    const url = await listen((_request, response) => {
      response.writeHead(201, { "transfer-encoding": "chunked" });
      response.end("in a chunk");
    });
    expect(await readAnswer(url, toWire(url, post))).toMatchObject({ status: 201, body: "in a chunk" });
  });
});

describe("a connection", () => {
  it("accepts a response that differs from the first one only in its date", async () => {
    let answers = 0;
    const url = await listen((_request, response) => {
      response.setHeader("date", new Date(answers++ * 1_000).toUTCString()).end("same");
    });
    expect(await sendMany(url, 3)).toEqual(["right", "right", "right"]);
  });

  it("accepts a response in several parts", async () => {
    const url = await listen((_request, response) => {
      response.writeHead(200, { "content-length": "8" });
      response.write("one ");
      setImmediate(() => response.end("two "));
    });
    expect(await sendMany(url, 3)).toEqual(["right", "right", "right"]);
  });

  it.each([
    ["body", (answers: number) => [200, answers === 2 ? "sane" : "same"] as const],
    ["length", (answers: number) => [200, answers === 2 ? "same and more" : "same"] as const],
    ["status", (answers: number) => [answers === 2 ? 503 : 200, "same"] as const],
  ])("reports a response with another %s", async (_what, answer) => {
    let answers = 0;
    const url = await listen((_request, response) => {
      const [status, body] = answer(answers++);
      response.writeHead(status).end(body);
    });
    const [first, second] = await sendMany(url, 2);
    expect(first).toBe("right");
    expect(second).toMatch(/^a response differs from the first one: HTTP\/1\.1 (200|503)/);
  });

  it("accepts responses that differ, if each one is right", async () => {
    let answers = 0;
    const url = await listen((_request, response) => {
      response.write("answer ");
      setImmediate(() => response.end(answers++ === 2 ? "none" : String(answers)));
    });
    const check: Case["check"] = ({ body }) => (body.endsWith("none") ? "it was none" : null);
    const outcomes = await sendMany(url, 3, { ...post, isConstant: false, check });
    expect(outcomes).toEqual(["right", "right", expect.stringMatching(/^a response/)]);
  });

  it("is not fresh if the server has closed it while it was idle, which is not an error", async () => {
    const sockets = new Set<Socket>();
    const url = await listen((_request, response) => response.end("same"));
    server.on("connection", (socket) => sockets.add(socket));
    const connection = await Connection.open(url, post, await readAnswer(url, toWire(url, post)));
    const faults: string[] = [];
    connection.onFault = (fault) => faults.push(fault);
    expect(connection.isFresh).toBe(true);
    for (const socket of sockets) socket.destroy();
    while (connection.isFresh) await new Promise((resolve) => setImmediate(resolve));
    expect(faults).toEqual([]);
  });

  it("reports its end", async () => {
    let answers = 0;
    const url = await listen((request, response) => {
      if (answers++ === 0) response.end("same");
      else request.socket.destroy();
    });
    expect(await sendMany(url, 1)).toEqual(["the server closed a connection"]);
  });
});
