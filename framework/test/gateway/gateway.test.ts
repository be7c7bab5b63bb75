/** A gateway that speaks OpenAI's protocol, with OpenAI's own client: its errors, and streams when the server stops. */
import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { serve } from "tsgi/node";
import { Deferred } from "../../core/src/common/promises.js";
import { KeptLog } from "../support/kept-log.js";
import { installOnDemand, IS_SLOW } from "../support/on-demand.js";
import { createGateway, type Model } from "./_gateway.js";

/** The parts of OpenAI's client that are used here. */
interface Client {
  readonly chat: {
    readonly completions: {
      create(body: object, options?: object): Promise<AsyncIterable<{ choices: { delta: { content?: string } }[] }>>;
    };
  };
  readonly models: { list(): Promise<unknown> };
}

/** An error of OpenAI's client: its class is by the status. */
interface ClientError extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly param: string | null;
  readonly type: string;
}

async function createClient(url: string, apiKey: string): Promise<Client> {
  const home = installOnDemand("openai", ["openai@7.59.0"]);
  const entry = pathToFileURL(path.join(home, "node_modules/openai/index.mjs")).href;
  const { default: OpenAI } = (await import(entry)) as { default: new (options: object) => Client };
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
}

/** A gateway whose model says `one`, waits for the gate, and says `two`. */
async function start(options: { shutdownTimeoutMs?: number } = {}) {
  const gate = new Deferred<void>();
  const model: Model = async function* () {
    yield "one";
    await gate.promise;
    yield "two";
  };
  const logger = new KeptLog();
  const server = await serve(createGateway(model, { logger }), { port: 0, signals: false, logger, ...options });
  const stop = () => server.close().catch((error: unknown) => error);
  return { url: server.url, gate, server, [Symbol.asyncDispose]: async () => void (await stop()) };
}

const VALID = { model: "echo", messages: [{ role: "user", content: "hi" }], stream: true };

/** Requests that the gateway rejects: the key, the body, and the error. */
const REJECTED: readonly [what: string, key: string, body: object, expected: object, name: string][] = [
  ["an unknown key", "sk-none", VALID, { status: 401, code: "invalid_api_key" }, "AuthenticationError"],
  ["an unknown model", "sk-team", { ...VALID, model: "x" }, { status: 404, code: "model_not_found" }, "NotFoundError"],
  ["no message", "sk-team", { ...VALID, messages: [] }, { status: 400, code: "too_short", param: "messages" }, "BadRequestError"],
  ["a body that is too large", "sk-team", { ...VALID, more: "x".repeat(2 ** 20) }, { status: 413, code: null }, "APIError"],
]; // prettier-ignore

describe("a gateway", () => {
  it.each(REJECTED)("sends an error of OpenAI for %s", async (_what, key, body, expected) => {
    await using gateway = await start();
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const { error } = (await response.json()) as { error: object };
    expect({ ...error, status: response.status }).toMatchObject({ ...expected, message: expect.any(String) });
  });

  it("sends an error of OpenAI for headers that are too long, which only the server has seen", async () => {
    await using gateway = await start();
    const response = await fetch(`${gateway.url}/v1/models`, { headers: { "x-long": "x".repeat(20_000) } });
    expect([response.status, await response.json()]).toEqual([
      431,
      { error: { message: expect.any(String), type: "invalid_request_error", param: null, code: null } },
    ]);
  });

  it("limits requests by the plan of the key", async () => {
    await using gateway = await start();
    gateway.gate.resolve();
    const call = async (key: string) => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const body = JSON.stringify(VALID);
      const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", headers, body });
      await response.text();
      return [response.status, response.headers.get("x-ratelimit-remaining")];
    };
    expect([await call("sk-free"), await call("sk-free"), await call("sk-free")]).toEqual([
      [200, "1"],
      [200, "0"],
      [429, "0"],
    ]);
    expect([await call("sk-team"), await call("sk-team"), await call("sk-team")].map(([status]) => status)).toEqual([
      200, 200, 200,
    ]);
  });
});

const slow = IS_SLOW ? describe : describe.skip;
slow("a gateway with OpenAI's client", () => {
  it.each(REJECTED)("rejects %s with the error class of the status", async (_what, key, body, expected, name) => {
    await using gateway = await start();
    const client = await createClient(gateway.url, key);
    const error = await client.chat.completions.create(body).catch((thrown: unknown) => thrown as ClientError);
    expect(error).toMatchObject({ ...expected, type: "invalid_request_error" });
    expect((error as ClientError).constructor.name).toBe(name);
  });

  it("streams each word, and the whole stream if the server stops meanwhile", async () => {
    await using gateway = await start();
    const client = await createClient(gateway.url, "sk-team");
    const words: unknown[] = [];
    let closed: Promise<void> | undefined;
    for await (const { choices } of await client.chat.completions.create(VALID)) {
      words.push(choices[0]?.delta.content);
      closed ??= gateway.server.close();
      gateway.gate.resolve();
    }
    expect(words).toEqual(["one", "two"]);
    await closed;
  });

  it("throws for a stream that the shutdown timeout cuts, so that a part is not taken for the whole", async () => {
    await using gateway = await start({ shutdownTimeoutMs: 300 });
    const client = await createClient(gateway.url, "sk-team");
    const words: unknown[] = [];
    let closed: Promise<unknown> | undefined;
    const read = async () => {
      for await (const { choices } of await client.chat.completions.create(VALID)) {
        words.push(choices[0]?.delta.content);
        closed ??= gateway.server.close().catch((error: unknown) => error);
      }
    };
    expect(await read().catch((error: Error) => error.name)).toBe("TypeError"); // of `fetch`: the body was cut
    expect(words).toEqual(["one"]);
    expect(await closed).toMatchObject({ name: "ShutdownTimeoutError" });
  });

  it("rejects the request after the last of a plan with a RateLimitError", async () => {
    await using gateway = await start();
    gateway.gate.resolve();
    const client = await createClient(gateway.url, "sk-free");
    const call = async () => {
      for await (const _ of await client.chat.completions.create(VALID));
    };
    await call();
    await call();
    await expect(call()).rejects.toMatchObject({ status: 429, code: null, type: "invalid_request_error" });
  });
});
