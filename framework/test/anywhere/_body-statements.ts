/** Statements about the bodies of requests. */
import assert from "node:assert/strict";
import { assertJSON, assertStatus, type Statement } from "./_statement.js";
import { faultLines } from "../support/probe.js";
import { multipart } from "../support/multipart.js";

const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, index) => index);

/** 3 MiB: a Lambda event of 6 MB holds them in base64. */
const LARGE = Buffer.alloc(3 * 2 ** 20, EVERY_BYTE);

/** The checksum of `app/app.mjs`. */
const sumOf = (bytes: Uint8Array) => bytes.reduce((sum, byte) => (sum + byte) % 65_521, 0);

export const bodies: readonly Statement[] = [
  {
    title: "a JSON body is validated, and unknown properties are removed",
    check: async ({ send }) =>
      assertJSON(
        await send("POST", "/items", { json: { name: "café", price: 1.5, admin: true } }),
        {
          name: "café",
          price: 1.5,
        },
        201,
      ),
  },
  {
    title: "an invalid JSON body is a 422 that lists every error",
    check: async ({ send }) => {
      const answer = await send("POST", "/items", { json: { name: "", price: -1 } });
      assertStatus(answer, 422);
      assert.deepEqual(faultLines(answer), ["string_too_short body.name", "greater_than_equal body.price"]);
    },
  },
  {
    title: "a JSON body over the limit of 1 MiB is a 413",
    check: async ({ send }) => {
      const text = JSON.stringify({ name: "a".repeat(1.5 * 2 ** 20), price: 1 });
      assertStatus(await send("POST", "/items", { text }), 413);
    },
  },
  {
    title: "a urlencoded form is parsed",
    check: async ({ send }) => {
      const form = [
        ["name", "café & bar"],
        ["count", "3"],
      ] as const;
      assertJSON(await send("POST", "/form", { form }), { name: "café & bar", count: 3 });
    },
  },
  {
    title: "a file is uploaded byte for byte",
    check: async ({ send }) => {
      const content = Buffer.concat(Array.from({ length: 400 }, () => EVERY_BYTE)); // 100 KiB
      const file = { filename: "café.bin", type: "application/octet-stream", content };
      const answer = await send("POST", "/upload", multipart(["title", "A file"], ["file", file]));
      assertJSON(answer, {
        title: "A file",
        name: "café.bin",
        type: "application/octet-stream",
        size: content.length,
        sum: sumOf(content),
      });
    },
  },
  {
    title: "a binary body is returned byte for byte",
    check: async ({ send }) => {
      const headers = [["content-type", "application/octet-stream"]] as const;
      const answer = await send("POST", "/echo", { headers, body: EVERY_BYTE });
      assertStatus(answer, 200);
      assert.deepEqual(answer.body, Buffer.from(EVERY_BYTE));
    },
  },
  {
    title: "a text body in UTF-8 is returned byte for byte",
    check: async ({ send }) => {
      const headers = [["content-type", "text/plain; charset=utf-8"]] as const;
      const answer = await send("POST", "/echo", { headers, body: Buffer.from("café ☕\n") });
      assert.equal(answer.text, "café ☕\n");
      assert.equal(answer.headers["content-type"], "text/plain; charset=utf-8");
    },
  },
  {
    title: "a request body of 3 MiB arrives whole",
    check: async ({ send }) => {
      const headers = [["content-type", "application/octet-stream"]] as const;
      const answer = await send("POST", "/count", { headers, body: LARGE });
      assertJSON(answer, { bytes: LARGE.length, sum: sumOf(LARGE) });
    },
  },
  {
    title: "a chunked request body arrives whole",
    check: async ({ send }) => {
      const chunks = [Buffer.from("one"), Buffer.from("two"), Buffer.from("three")];
      assertJSON(await send("POST", "/count", { chunks }), { bytes: 11, sum: sumOf(Buffer.concat(chunks)) });
    },
  },
  {
    title: "an empty body is empty",
    check: async ({ send }) => assertJSON(await send("POST", "/count"), { bytes: 0, sum: 0 }),
  },
];
