import { describe, expect, it } from "@jest/globals";
import { convertToModelMessages, parseJsonEventStream, streamText, type UIMessage, uiMessageChunkSchema } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { App, Request, t } from "../../../../src/index.js";
import { serve } from "../../../../src/node.js";
import { Deferred } from "../../../../src/common/promises.js";
import { KeptLog } from "../../../../../test/support/kept-log.js";

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined },
};

/** A model that says each word when it is told to, and keeps the signal that it is given. */
class SteppedModel extends MockLanguageModelV3 {
  /** The signal of the call, once there is one. */
  readonly signal = new Deferred<AbortSignal>();
  readonly #steps: readonly Deferred<void>[];
  #said = 0;

  constructor(words: readonly string[]) {
    super({
      doStream: ({ abortSignal }) => {
        if (abortSignal !== undefined) this.signal.resolve(abortSignal);
        return Promise.resolve({ stream: ReadableStream.from(this.#parts(words)) });
      },
    });
    this.#steps = words.map(() => new Deferred<void>());
  }

  /** Lets the model say its next word. */
  step(): void {
    this.#steps[this.#said++]?.resolve();
  }

  async *#parts(words: readonly string[]) {
    yield { type: "stream-start" as const, warnings: [] };
    yield { type: "text-start" as const, id: "1" };
    for (const [index, delta] of words.entries()) {
      await this.#steps[index]?.promise;
      yield { type: "text-delta" as const, id: "1", delta };
    }
    yield { type: "text-end" as const, id: "1" };
    yield { type: "finish" as const, finishReason: { unified: "stop" as const, raw: undefined }, usage: USAGE };
  }
}

/** Two routes that stream the output of a model: as text, and as the chunks of `useChat`. */
function chat(model: SteppedModel, logger = new KeptLog()): App {
  const app = new App({ logger });
  const Chat = t.Object({ messages: t.Array(t.Unsafe<UIMessage>({ type: "object" })) });
  app.post(
    "/text",
    { params: { body: t.Object({ prompt: t.String() }), request: Request } },
    async ({ body, request }) =>
      streamText({ model, prompt: body.prompt, abortSignal: request.signal }).toTextStreamResponse(),
  );
  app.post("/chat", { params: { body: Chat, request: Request } }, async ({ body, request }) => {
    const messages = await convertToModelMessages(body.messages);
    return streamText({ model, messages, abortSignal: request.signal }).toUIMessageStreamResponse({
      headers: { "x-model": "mock" },
    });
  });
  return app;
}

const json = (body: unknown, signal: AbortSignal | null = null): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
  signal,
});

const text = (response: globalThis.Response) =>
  (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();

describe("a stream of the AI SDK that a handler returns", () => {
  it("arrives word by word over a socket", async () => {
    const model = new SteppedModel(["Hello", ", ", "world"]);
    const server = await serve(chat(model), { port: 0, signals: false, logger: new KeptLog() });
    try {
      const response = await fetch(`${server.url}/text`, json({ prompt: "greet" }));
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
      const reader = text(response);
      for (const value of ["Hello", ", ", "world"]) {
        model.step();
        expect(await reader.read()).toEqual({ done: false, value });
      }
      expect(await reader.read()).toEqual({ done: true, value: undefined });
      expect(model.doStreamCalls[0]?.prompt).toEqual([
        { role: "user", content: [{ type: "text", text: "greet" }], providerOptions: undefined },
      ]);
    } finally {
      await server.close();
    }
  });

  it("sends a user interface the chunks that the SDK's own reader accepts", async () => {
    const model = new SteppedModel(["Hel", "lo"]);
    const server = await serve(chat(model), { port: 0, signals: false, logger: new KeptLog() });
    try {
      const messages: UIMessage[] = [{ id: "m", role: "user", parts: [{ type: "text", text: "hi" }] }];
      const answered = fetch(`${server.url}/chat`, json({ messages }));
      model.step();
      model.step();
      const { body, headers } = await answered;
      expect([
        headers.get("content-type"),
        headers.get("x-vercel-ai-ui-message-stream"),
        headers.get("x-model"),
      ]).toEqual(["text/event-stream", "v1", "mock"]);
      const said: string[] = [];
      const chunks = parseJsonEventStream({
        stream: body as ReadableStream<Uint8Array<ArrayBuffer>>,
        schema: uiMessageChunkSchema,
      });
      for await (const chunk of chunks) {
        if (chunk.success && chunk.value.type === "text-delta") said.push(chunk.value.delta);
      }
      expect(said).toEqual(["Hel", "lo"]);
    } finally {
      await server.close();
    }
  });

  it.each(["/text", "/chat"])(
    "aborts the model's signal if the client disconnects %s, without an error",
    async (path) => {
      const [model, log] = [new SteppedModel(["one", "two"]), new KeptLog()];
      const server = await serve(chat(model, log), { port: 0, signals: false, logger: log });
      try {
        const controller = new AbortController();
        const messages: UIMessage[] = [{ id: "m", role: "user", parts: [{ type: "text", text: "hi" }] }];
        const answered = fetch(server.url + path, json({ prompt: "greet", messages }, controller.signal));
        model.step();
        const reader = text(await answered);
        await reader.read();
        const signal = await model.signal.promise;
        expect(signal.aborted).toBe(false);
        const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        controller.abort();
        await expect(aborted).resolves.toBeUndefined();
        await expect(reader.read()).rejects.toThrow("aborted");
      } finally {
        model.step();
        await server.close();
      }
      expect(log.lines.filter((line) => !line.startsWith("info"))).toEqual([]);
    },
  );

  it("is the same by app.fetch, and canceling the body aborts the model", async () => {
    const model = new SteppedModel(["one", "two"]);
    const app = chat(model);
    model.step();
    const answer = await app.fetch(new globalThis.Request("http://localhost/text", json({ prompt: "greet" })));
    const reader = text(answer);
    expect(await reader.read()).toEqual({ done: false, value: "one" });
    const signal = await model.signal.promise;
    await reader.cancel();
    model.step();
    await app.fetch.close();
    expect(signal.aborted).toBe(true);
  });
});
