/** The formats of the page `error-format.md`, each read by the client or the schema of its owner. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { transform } from "esbuild";
import type { App } from "tsgi";
import { serve } from "tsgi/node";
import { blocksOf, fileOf } from "./docs/_blocks.js";
import { KeptLog } from "./support/kept-log.js";
import { CACHE, installOnDemand, IS_SLOW } from "./support/on-demand.js";

const PAGE = path.resolve(import.meta.dirname, "../docs/error-format.md");
const FORMATS = ["openai", "google", "json-api"] as const;
type Format = (typeof FORMATS)[number];

const folder = path.join(CACHE, `error-formats-${process.pid}`);

/** Serves the application of a format, as it is on the page. */
async function start(format: Format) {
  const blocks = blocksOf(PAGE, readFileSync(PAGE, "utf8"));
  const block = blocks.find((one) => fileOf(one) === `${format}/app.ts`);
  const { code } = await transform(block?.code ?? "", { loader: "ts" });
  const file = path.join(folder, `${format}.mjs`);
  writeFileSync(file, code);
  const { app } = (await import(pathToFileURL(file).href)) as { app: App };
  const server = await serve(app, { port: 0, signals: false, logger: new KeptLog() });
  return { url: server.url, [Symbol.asyncDispose]: () => server.close() };
}

const slow = IS_SLOW ? describe : describe.skip;
slow("the formats of the page", () => {
  beforeAll(() => void mkdirSync(folder, { recursive: true }));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** A request with headers that are too long, which the server rejects by itself. */
  const TOO_LONG = { headers: { "x-long": "x".repeat(20_000) } };

  it("are errors of OpenAI's client", async () => {
    await using server = await start("openai");
    const home = installOnDemand("openai", ["openai@7.59.0"]);
    const entry = pathToFileURL(path.join(home, "node_modules/openai/index.mjs")).href;
    interface Client {
      readonly chat: { readonly completions: { create(body: object): Promise<unknown> } };
      readonly models: { list(options?: object): Promise<unknown> };
    }
    const { default: OpenAI } = (await import(entry)) as { default: new (options: object) => Client };
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "sk", maxRetries: 0 });
    const errorOf = (call: Promise<unknown>) => call.catch((error: unknown) => error);
    const messages = [{ role: "user", content: "hi" }];
    expect(await errorOf(client.chat.completions.create({ model: "m", messages }))).toMatchObject({
      status: 404,
      code: "model_not_found",
      type: "invalid_request_error",
      message: "404 The model m does not exist",
    });
    expect(await errorOf(client.chat.completions.create({ model: "m", messages: [] }))).toMatchObject({
      status: 400,
      param: "messages",
      code: "too_short",
    });
    expect(await errorOf(client.models.list())).toMatchObject({ status: 404, code: null, param: null });
    expect(await errorOf(client.models.list(TOO_LONG))).toMatchObject({ status: 431, type: "invalid_request_error" });
  });

  it("are errors that Google's client decodes, with the fields of a validation error", async () => {
    await using server = await start("google");
    const home = installOnDemand("google-gax", ["google-gax@6.17.0"]);
    interface GoogleError extends Error {
      readonly code: number;
      readonly statusDetails?: readonly { readonly fieldViolations: readonly { readonly field: string }[] }[];
    }
    const { GoogleError } = createRequire(path.join(home, "index.js"))("google-gax") as {
      GoogleError: { parseHttpError(json: unknown): GoogleError };
    };
    const errorOf = async (target: string, init = {}) =>
      GoogleError.parseHttpError(await (await fetch(server.url + target, init)).json());
    const [invalid, missing, tooLong] = [
      await errorOf("/v1/books/x"),
      await errorOf("/v1/books/7"),
      await errorOf("/v1/books/7", TOO_LONG),
    ];
    // google.rpc.Code
    expect([invalid.code, missing.code, tooLong.code]).toEqual([3, 5, 9]);
    expect(missing.message).toBe("Book 7 was not found");
    expect(invalid.statusDetails?.[0]?.fieldViolations[0]?.field).toBe("id");
  });

  it("are documents that the schema of JSON:API accepts", async () => {
    await using server = await start("json-api");
    const home = installOnDemand("jsonapi-validator", ["jsonapi-validator@3.0.5"]);
    const { Validator } = createRequire(path.join(home, "index.js"))("jsonapi-validator") as {
      Validator: new () => { validate(document: unknown): void };
    };
    const validator = new Validator();
    expect(() => validator.validate({ errors: [{ status: 404 }] })).toThrow("Invalid");
    const body = JSON.stringify({ tags: [1] });
    const init = { method: "POST", body, headers: { "content-type": "application/json" } };
    const responses = [
      await fetch(`${server.url}/articles`, init),
      await fetch(`${server.url}/articles/x`),
      await fetch(`${server.url}/articles/7`),
      await fetch(`${server.url}/none`),
      await fetch(`${server.url}/articles/7`, TOO_LONG),
    ];
    expect(responses.map(({ status }) => status)).toEqual([422, 422, 404, 404, 431]);
    for (const response of responses) {
      expect(response.headers.get("content-type")).toBe("application/vnd.api+json");
      const document: unknown = await response.json();
      expect(() => validator.validate(document)).not.toThrow();
    }
  });
});
