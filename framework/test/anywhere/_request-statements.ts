/** Statements about targets, parameters and headers. */
import assert from "node:assert/strict";
import { assertJSON, assertStatus, type Statement } from "./_statement.js";
import { faultLines } from "../support/probe.js";

export const requests: readonly Statement[] = [
  {
    title: "an async handler returns JSON",
    check: async ({ send }) => {
      const answer = await send("GET", "/");
      assertJSON(answer, { hello: "world" });
      assert.equal(answer.headers["content-type"], "application/json");
    },
  },
  {
    title: "a non-async handler computes its result",
    check: async ({ send }) => assertJSON(await send("GET", "/plain/20"), { n: 20, fibonacci: 6765 }),
  },
  {
    title: "path and query parameters are converted, and a repeated one is an array",
    check: async ({ send }) =>
      assertJSON(await send("GET", "/items/7?tag=a%20b&tag=caf%C3%A9+%26"), { id: 7, tag: ["a b", "café &"] }),
  },
  {
    title: "an invalid parameter is a 422 with its place",
    check: async ({ send }) => {
      const answer = await send("GET", "/items/seven");
      assertStatus(answer, 422);
      assert.deepEqual(faultLines(answer), ["int_parsing path.id"]);
    },
  },
  {
    title: "percent-encoded letters of a path are decoded once",
    check: async ({ send }) => {
      assertJSON(await send("GET", "/text/caf%C3%A9%20%E2%98%95"), "café ☕");
      assertJSON(await send("GET", "/text/100%25"), "100%");
    },
  },
  {
    title: "an encoded slash remains part of its segment",
    needs: ["encoded slashes"],
    check: async ({ send }) => assertJSON(await send("GET", "/text/a%2Fb"), "a/b"),
  },
  {
    title: "an unknown path is a 404",
    check: async ({ send }) => assertJSON(await send("GET", "/none"), { detail: "Not Found" }, 404),
  },
  {
    title: "another method is a 405 with Allow",
    check: async ({ send }) => {
      const answer = await send("PUT", "/items/7");
      assertJSON(answer, { detail: "Method Not Allowed" }, 405);
      assert.equal(answer.headers["allow"], "DELETE, GET, HEAD");
    },
  },
  {
    title: "HEAD has the head of GET and no body",
    check: async ({ send }) => {
      const answer = await send("HEAD", "/");
      assertStatus(answer, 200);
      assert.equal(answer.headers["content-type"], "application/json");
      assert.equal(answer.body.length, 0);
    },
  },
  {
    title: "headers reach the handler, and a repeated one has all values",
    check: async ({ send }) => {
      const headers = [
        ["X-One", "1"],
        ["x-two", "2"],
        ["x-two", "3"],
      ] as const;
      const answer = await send("GET", "/headers", { headers });
      assertStatus(answer, 200);
      const { one, two } = answer.json as { one: string; two: string };
      assert.deepEqual([one, two.replace(/, ?/, ",")], ["1", "2,3"]);
    },
  },
  {
    title: "cookies of a request reach the handler",
    check: async ({ send }) =>
      assertJSON(await send("GET", "/cookies", { headers: [["cookie", "a=1; b=two%20words"]] }), {
        a: "1",
        b: "two words",
      }),
  },
  {
    title: "the handler sees the address of the client",
    needs: ["client address"],
    check: async ({ send }) => {
      const { client } = (await send("GET", "/connection")).json as { client: string };
      assert.match(client, /^(?:127\.0\.0\.1|::1|::ffff:127\.0\.0\.1)$/);
    },
  },
  {
    title: "the CORS middleware responds to a preflight request",
    check: async ({ send }) => {
      const headers = [
        ["origin", "https://page.test"],
        ["access-control-request-method", "PUT"],
      ] as const;
      const answer = await send("OPTIONS", "/cors", { headers });
      assertStatus(answer, 204);
      assert.equal(answer.headers["access-control-allow-origin"], "https://page.test");
    },
  },
  {
    title: "the lifespan starts once, before the first request",
    check: async ({ send }) => {
      await Promise.all([send("GET", "/"), send("GET", "/starts")]);
      assertJSON(await send("GET", "/starts"), 1);
    },
  },
];
