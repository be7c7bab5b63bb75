/** Statements about responses, middleware and the documentation. */
import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { assertJSON, assertStatus, type Statement } from "./_statement.js";

const PIXEL_BYTES = 70;

export const responses: readonly Statement[] = [
  {
    title: "several cookies are set, each by its own header",
    check: async ({ send }) => {
      const { headerLines } = await send("GET", "/cookies/set");
      const cookies = headerLines.filter(([name]) => name.toLowerCase() === "set-cookie").map(([, value]) => value);
      assert.equal(cookies.length, 2, cookies.join());
      assert.match(cookies[0] ?? "", /^a=1;.*HttpOnly/);
      assert.match(cookies[1] ?? "", /^b=2;.*Path=\/items/);
    },
  },
  {
    title: "a redirect has its status and an unchanged Location",
    check: async ({ send }) => {
      const answer = await send("GET", "/redirect");
      assertStatus(answer, 307);
      assert.equal(answer.headers["location"], "/items/1?tag=a%20b");
    },
  },
  {
    title: "HTML is sent in UTF-8",
    check: async ({ send }) => {
      const answer = await send("GET", "/html");
      assert.equal(answer.text, "<p>café ☕</p>");
      assert.equal(answer.headers["content-type"], "text/html; charset=utf-8");
    },
  },
  {
    title: "a binary response arrives byte for byte",
    check: async ({ send }) => {
      const { body } = await send("GET", "/bytes");
      assert.deepEqual(
        [...body],
        Array.from({ length: 256 }, (_, index) => index),
      );
    },
  },
  {
    title: "a response of 3 MiB in chunks arrives whole",
    needs: ["large responses"],
    check: async ({ send }) => {
      const { body } = await send("GET", "/large/3072");
      assert.equal(body.length, 3 * 2 ** 20);
      assert.equal(
        body.findIndex((byte, index) => byte !== Math.floor(index / 1024) % 251),
        -1,
      );
    },
  },
  {
    title: "an empty 200 has no body",
    check: async ({ send }) => {
      const answer = await send("GET", "/empty");
      assertStatus(answer, 200);
      assert.equal(answer.body.length, 0);
    },
  },
  {
    title: "a 204 has no body",
    check: async ({ send }) => {
      const answer = await send("DELETE", "/items/7");
      assertStatus(answer, 204);
      assert.equal(answer.body.length, 0);
    },
  },
  {
    title: "a compressed response has one gzip encoding",
    needs: ["compression"],
    check: async ({ send }) => {
      const answer = await send("GET", "/compressed", { headers: [["accept-encoding", "gzip"]] });
      assert.equal(answer.headers["content-encoding"], "gzip");
      assert.equal(gunzipSync(answer.body).toString(), JSON.stringify("a".repeat(10_000)));
    },
  },
  {
    title: "an exception is a 500 that does not show its message",
    check: async ({ send }) => {
      const answer = await send("GET", "/fails");
      assertJSON(answer, { detail: "Internal Server Error" }, 500);
    },
  },
  {
    title: "an HTTPException has its status, message and headers",
    check: async ({ send }) => {
      const answer = await send("GET", "/teapot");
      assertJSON(answer, { detail: "short and stout" }, 418);
      assert.equal(answer.headers["x-pot"], "1");
    },
  },
  {
    title: "security headers are sent",
    check: async ({ send }) => {
      const { headers } = await send("GET", "/strict");
      assert.equal(headers["x-content-type-options"], "nosniff");
    },
  },
  {
    title: "the rate limit rejects the third request with 429 and Retry-After",
    check: async ({ send }) => {
      await send("GET", "/limited");
      await send("GET", "/limited");
      const answer = await send("GET", "/limited");
      assertStatus(answer, 429);
      assert.match(answer.headers["retry-after"] ?? "", /^\d+$/);
    },
  },
  {
    title: "the OpenAPI document lists the routes",
    check: async ({ send }) => {
      const { json } = await send("GET", "/openapi.json");
      const { paths, info } = json as { paths: Record<string, object>; info: { title: string } };
      assert.equal(info.title, "Anywhere");
      assert.ok("/items/{id}" in paths);
    },
  },
  {
    title: "/docs is a page that leads to the OpenAPI document",
    check: async ({ send }) => {
      const answer = await send("GET", "/docs");
      assertStatus(answer, 200);
      assert.match(answer.headers["content-type"] ?? "", /^text\/html/);
      assert.match(answer.text, /openapi\.json/);
    },
  },
  {
    title: "/docs loads the files of Swagger UI from the application",
    needs: ["documentation pages"],
    check: async ({ send }) => {
      const { text } = await send("GET", "/docs");
      const [, source = ""] = /<script src="([^"]*swagger-ui-bundle\.js)"/.exec(text) ?? [];
      const answer = await send("GET", new URL(source, "http://a.test/docs").pathname);
      assertStatus(answer, 200);
      assert.match(answer.headers["content-type"] ?? "", /javascript/);
      assert.ok(answer.body.length > 500_000, `${answer.body.length} bytes`);
    },
  },
  {
    title: "a static file of text has its type and an ETag, and the response to the same ETag is 304",
    needs: ["static files"],
    check: async ({ send }) => {
      const answer = await send("GET", "/static/hello.txt");
      assert.equal(answer.text, "hello from a file\n");
      assert.match(answer.headers["content-type"] ?? "", /^text\/plain/);
      const etag = answer.headers["etag"] ?? "";
      const again = await send("GET", "/static/hello.txt", { headers: [["if-none-match", etag]] });
      assertStatus(again, 304);
    },
  },
  {
    title: "a binary static file arrives byte for byte",
    needs: ["static files"],
    check: async ({ send }) => {
      const { body, headers } = await send("GET", "/static/pixel.png");
      assert.equal(headers["content-type"], "image/png");
      assert.equal(body.length, PIXEL_BYTES);
      assert.deepEqual([...body.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
    },
  },
  {
    title: "a path out of the folder of static files is a 404",
    check: async ({ send }) => assertStatus(await send("GET", "/static/..%2fapp.mjs"), 404),
  },
  {
    title: "a span of OpenTelemetry continues the trace of the client",
    check: async ({ send, key }) => {
      const id = Buffer.from(key.padStart(16, "0")).subarray(-16).toString("hex");
      await send("GET", "/items/3", { headers: [["traceparent", `00-${id}-00f067aa0ba902b7-01`]] });
      const spans = (await send("GET", "/traces")).json as string[];
      assert.ok(spans.includes(`${id} GET /items/{id}`), spans.join("\n"));
    },
  },
];
