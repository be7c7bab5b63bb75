/** Which responses have content: one rule, and the same bytes from every server. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { HTTPResponseStartMessage, SendMessage } from "../../src/protocol/asgi.js";
import { overSocket, type StartedServer, type StartServer } from "@tsgi/conformance";
import { useLoopPackage } from "../../src/platforms/concurrency/loop.js";
import { HeaderList } from "../../src/protocol/header-list.js";
import { serve } from "../../src/node.js";
import { responseFacts } from "../../src/protocol/response.js";
import { servers } from "../../../conformance/test/_servers.js";
import { httpApp } from "../platforms/node/_http.js";
import { fetchedUws } from "../../../uwebsockets/test/_uws.js";
import { KeptLog } from "../../../test/support/kept-log.js";

const uws = fetchedUws();

const startUws: StartServer = async (app) => {
  useLoopPackage(uws);
  const server = await serve(app, { port: 0, signals: false, loop: "uwebsockets", logger: new KeptLog() });
  return overSocket(server.url, () => server.close());
};

const drivers = [...servers, ...(uws === null ? [] : [{ name: "uWebSockets.js", start: startUws }])];

const CONTENT = Buffer.from("content");

const start = (status: number, headers: readonly string[]): HTTPResponseStartMessage => ({
  type: "http.response.start",
  status,
  headers: new HeaderList(headers),
});
const part = (body: Uint8Array, more_body: boolean): SendMessage => ({ type: "http.response.body", body, more_body });

/** The ways in which an application sends a response with the body `content`. */
const ways = {
  "in one message": (status: number) => [start(status, []), part(CONTENT, false)],
  "in parts": (status: number) => [start(status, []), part(CONTENT, true), part(CONTENT, false)],
  "with its own Content-Length": (status: number) => [
    start(status, ["content-length", String(CONTENT.length)]),
    part(CONTENT, false),
  ],
} as const;

/** A response without content, and the values of `Content-Length` that its rule allows; `null` for no such field. */
const rows: [method: string, status: number, rule: string, lengths: (string | null)[]][] = [
  ["GET", 204, "RFC 9110 §8.6, §15.3.5", [null]],
  ["HEAD", 204, "RFC 9110 §8.6, §15.3.5", [null]],
  ["GET", 205, "RFC 9110 §15.3.6", ["0"]],
  ["HEAD", 205, "RFC 9110 §15.3.6", ["0"]],
  ["POST", 205, "RFC 9110 §15.3.6", ["0"]],
  ["GET", 304, "RFC 9110 §15.4.5", [null, "7"]],
  ["HEAD", 304, "RFC 9110 §15.4.5", [null, "7"]],
  ["HEAD", 200, "RFC 9110 §9.3.2", [null, "7"]],
  ["HEAD", 404, "RFC 9110 §9.3.2", [null, "7"]],
];

describe("responseFacts", () => {
  it.each(rows)("detects that the response has no content: %s %i (%s)", (method, status) => {
    expect(responseFacts(status, method).bodyless).toBe(true);
  });

  it.each([200, 201, 203, 206, 300, 301, 400, 404, 500])("detects that a GET has content: %i", (status) => {
    expect(responseFacts(status, "GET")).toEqual({ bodyless: false, length: "content" });
  });
});

/** Sends a response with the status that is the first segment of the path, in the way that is the second. */
const app = httpApp(async ({ path }, _receive, send) => {
  const [, status, way] = path.split("/");
  for (const message of Object.values(ways)[Number(way)]?.(Number(status)) ?? []) await send(message);
});

describe.each(drivers)("a response without content, by $name", ({ start: startServer }) => {
  let server: StartedServer;
  beforeAll(async () => {
    server = await startServer(app);
  });
  afterAll(() => server.close());

  const all = rows.flatMap(([method, status, rule, lengths]) =>
    Object.keys(ways).map((way, index) => ({ method, status, rule, lengths, way, index })),
  );

  it.each(all)("stays so with a body $way: $method $status, $rule", async ({ method, status, lengths, index }) => {
    const response = await server.request({ method, target: `/${status}/${index}` });
    let text = "";
    for await (const chunk of response.body) text += Buffer.from(chunk).toString();
    expect([response.status, text]).toEqual([status, ""]);
    const names = response.headers.map(([name]) => name.toLowerCase());
    expect(names).not.toContain("transfer-encoding");
    expect(names.filter((name) => name === "content-length").length).toBeLessThanOrEqual(1);
    expect(lengths).toContain(response.headers[names.indexOf("content-length")]?.[1] ?? null);
  });
});
