import { describe, expect, it } from "@jest/globals";
import type { ASGIApp, Send } from "tsgi";
import type { Contender } from "../../src/direct/contender.js";
import { handle as handWritten } from "../../src/direct/contenders/hand-written.js";
import { handle as handWrittenFetch } from "../../src/direct/contenders/hand-written-fetch.js";
import { handle as tsgi } from "../../src/direct/contenders/tsgi.js";
import { measureContender } from "../../src/direct/measure.js";
import { EXAMPLES } from "../../src/examples.js";

const COUNTS = { warmUp: 5, requests: 20 };
const right: Contender = { kind: "asgi", handle: handWritten };

/** The hand-written application, with some changed responses. */
function spoiled(spoil: (send: Send, request: number) => Send): Contender {
  let requests = 0;
  const handle: ASGIApp = (scope, receive, send) => handWritten(scope, receive, spoil(send, requests++));
  return { kind: "asgi", handle };
}

const withBody =
  (text: string) =>
  (send: Send): Send =>
  (message) =>
    send(message.type === "http.response.body" ? { ...message, body: Buffer.from(text) } : message);
const withStatus =
  (status: number) =>
  (send: Send): Send =>
  (message) =>
    send(message.type === "http.response.start" ? { ...message, status } : message);

describe("measureContender", () => {
  it.each<[string, Contender]>([
    ["the hand-written application", right],
    ["the benchmark application", { kind: "asgi", handle: tsgi }],
    ["the hand-written fetch handler", { kind: "fetch", handle: handWrittenFetch }],
  ])("finds no error in %s and returns a rate for each route", async (_name, contender) => {
    const { rows, faults } = await measureContender(contender, EXAMPLES, COUNTS);
    expect(faults).toEqual([]);
    expect(rows.map(({ name }) => name)).toEqual(["GET /health", "GET /users/{id}", "POST /users"]);
    expect(rows.every(({ figures }) => (figures["perSecond"] ?? 0) > 0)).toBe(true);
  });

  it("reports a wrong body without a rate", async () => {
    const { rows, faults } = await measureContender(spoiled(withBody('{"status":"no"}')), EXAMPLES, COUNTS);
    expect(rows).toEqual([]);
    expect(faults[0]).toBe('GET /health: expected {"status":"ok"}, got {"status":"no"}');
  });

  it("reports a wrong status", async () => {
    const { faults } = await measureContender(spoiled(withStatus(202)), EXAMPLES.slice(0, 1), COUNTS);
    expect(faults[0]).toContain("GET /health: expected the status 200, got 202");
  });

  it.each([
    ["status", withStatus(500)],
    ["length", withBody("{}")],
  ])("reports a wrong %s of a single response among the timed ones", async (_what, spoil) => {
    const contender = spoiled((send, request) => (request === 12 ? spoil(send) : send));
    const { rows, faults } = await measureContender(contender, EXAMPLES.slice(0, 1), COUNTS);
    expect(rows).toEqual([]);
    expect(faults[0]).toBe("GET /health: 1 of 20 responses were wrong");
  });

  it("reports a contender that does not validate", async () => {
    const handle = async (): Promise<Response> => Response.json({ id: 1 }, { status: 201 });
    const { faults } = await measureContender({ kind: "fetch", handle }, [], COUNTS);
    expect(faults).toContainEqual(expect.stringContaining("an empty name: expected the status refused, got 201"));
    expect(faults).toContainEqual(expect.stringContaining("a path without a route: expected the status 404, got 201"));
  });
});
