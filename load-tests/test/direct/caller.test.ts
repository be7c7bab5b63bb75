import { describe, expect, it } from "@jest/globals";
import type { ASGIApp } from "tsgi";
import { createCaller } from "../../src/direct/caller.js";
import { EXAMPLES, type Example } from "../../src/examples.js";

const [, , post] = EXAMPLES as [Example, Example, Example];

describe("a caller of ASGI applications", () => {
  it("passes the body once and then a disconnect, and joins a chunked response", async () => {
    const seen: unknown[] = [];
    const app: ASGIApp = async (scope, receive, send) => {
      seen.push(scope, await receive(), await receive());
      await send({
        type: "http.response.start",
        status: 201,
        headers: [[Buffer.from("Content-Type"), Buffer.from("a/b")]],
      });
      await send({ type: "http.response.body", body: Buffer.from("one "), more_body: true });
      await send({ type: "http.response.body", body: Buffer.from("two") });
    };
    const answer = await createCaller({ kind: "asgi", handle: app }, post).ask();
    expect(answer).toEqual({ status: 201, contentType: "a/b", body: "one two" });
    expect(seen).toEqual([
      {
        type: "http",
        method: "POST",
        path: "/users",
        query_string: new Uint8Array(),
        headers: [[Buffer.from("content-type"), Buffer.from("application/json")]],
      },
      { type: "http.request", body: Buffer.from(post.body ?? ""), more_body: false },
      { type: "http.disconnect" },
    ]);
  });
});

describe("a caller of fetch handlers", () => {
  it("creates a new request with method, type and body for each call, and counts wrong responses", async () => {
    const bodies: string[] = [];
    const handle = async (request: Request): Promise<Response> => {
      bodies.push(`${request.method} ${request.headers.get("content-type")} ${await request.text()}`);
      return new Response("made", { status: bodies.length === 2 ? 500 : 201 });
    };
    const caller = createCaller({ kind: "fetch", handle }, post);
    expect(await caller.repeat(3, { status: 201, contentType: "", body: "made" })).toBe(1);
    expect(new Set(bodies)).toEqual(new Set([`POST application/json ${post.body}`]));
  });
});

describe("a caller of inject", () => {
  it("passes method, URL, type and payload, and counts wrong responses", async () => {
    const requests: unknown[] = [];
    const caller = createCaller(
      {
        kind: "inject",
        handle: async (request) => {
          requests.push(request);
          return {
            statusCode: 201,
            headers: { "content-type": "a/b" },
            payload: requests.length === 2 ? "other" : "made",
          };
        },
      },
      post,
    );
    expect(await caller.ask()).toEqual({ status: 201, contentType: "a/b", body: "made" });
    expect(await caller.repeat(2, { status: 201, contentType: "", body: "made" })).toBe(1);
    expect(requests[0]).toEqual({
      method: "POST",
      url: "/users",
      headers: { "content-type": "application/json" },
      payload: post.body,
    });
  });
});
