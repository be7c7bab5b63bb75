/** The application of `docs/resumable-chat.md` in two processes, with a model whose tokens the test sends. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Redis } from "ioredis";
import { blocksOf, fileOf } from "../docs/_blocks.js";
import { CACHE } from "../support/on-demand.js";
import { type RedisServer, startRedis } from "../support/redis-server.js";

const PAGE = path.resolve(import.meta.dirname, "../../docs/resumable-chat.md");

/** A model that writes the tokens of a list in Redis, and reports the abort of its signal in another. */
const MODEL = `
  import { MockLanguageModelV3 } from "ai/test";
  import { Redis } from "ioredis";

  const redis = new Redis(process.env.REDIS_URL);
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const end = [
    { type: "text-end", id: "1" },
    { type: "finish", finishReason: { unified: "stop", raw: undefined }, usage },
  ];
  export const model = new MockLanguageModelV3({
    doStream: async ({ abortSignal }) => {
      const tokens = redis.duplicate();
      abortSignal.addEventListener("abort", () => {
        redis.lpush("aborted", "yes");
        tokens.disconnect();
      });
      const start = (controller) => controller.enqueue({ type: "text-start", id: "1" });
      const pull = async (controller) => {
        const [, delta] = await tokens.blpop("tokens", 0);
        if (delta !== "END") return controller.enqueue({ type: "text-delta", id: "1", delta });
        for (const part of end) controller.enqueue(part);
        controller.close();
        tokens.disconnect();
      };
      return { stream: new ReadableStream({ start, pull }) };
    },
  });`;

const MAIN = `
  import { FileResponse, HTMLResponse } from "tsgi";
  import { serve } from "tsgi/node";
  import { app } from "./app.ts";
  app.get("/", async () => new HTMLResponse('<!doctype html><link rel="icon" href="data:,"><div id="root"></div><script src="/page.js"></script>'));
  app.get("/page.js", async () => new FileResponse("page.js"));
  console.log("url", (await serve(app, { port: 0, host: "127.0.0.1" })).url);
`;

/** Writes the files of the page, with the model of the tests. */
function writeFiles(folder: string): void {
  mkdirSync(path.join(folder, "src"));
  for (const block of blocksOf(PAGE, readFileSync(PAGE, "utf8"))) {
    const file = fileOf(block);
    if (file !== null) writeFileSync(path.join(folder, file), block.code);
  }
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(path.join(folder, "src/model.ts"), MODEL);
  writeFileSync(path.join(folder, "src/main.mjs"), MAIN);
}

export class ChatServers implements AsyncDisposable {
  /** The addresses of the two. */
  readonly urls: readonly string[];
  /** The folder with the files of the page. */
  readonly folder: string;
  readonly #redis: RedisServer;
  readonly #client: Redis;
  readonly #children: readonly ChildProcess[];

  private constructor(
    parts: { readonly urls: readonly string[]; readonly folder: string },
    redis: RedisServer,
    children: readonly ChildProcess[],
  ) {
    this.urls = parts.urls;
    this.folder = parts.folder;
    this.#redis = redis;
    this.#client = new Redis(redis.path);
    this.#children = children;
  }

  static async start(): Promise<ChatServers> {
    mkdirSync(CACHE, { recursive: true });
    const folder = mkdtempSync(path.join(CACHE, "chat-"));
    writeFiles(folder);
    const redis = await startRedis();
    const children = [0, 1].map(() =>
      spawn(process.execPath, ["--import", "tsx", "src/main.mjs"], {
        cwd: folder,
        env: { ...process.env, REDIS_URL: redis.path },
        stdio: ["ignore", "pipe", "inherit"],
      }),
    );
    const urls = await Promise.all(children.map(urlOf));
    return new ChatServers({ urls, folder }, redis, children);
  }

  /** Makes the model write. */
  async write(...tokens: readonly string[]): Promise<void> {
    await this.#client.rpush("tokens", ...tokens);
  }

  /** Settles when the signal of a model has aborted. */
  async aborted(): Promise<void> {
    await this.#client.blpop("aborted", 0);
  }

  /** The number of models that have been aborted, and not been waited for. */
  countAborted(): Promise<number> {
    return this.#client.llen("aborted");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.disconnect();
    for (const child of this.#children) {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    }
    await this.#redis[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function urlOf(child: ChildProcess): Promise<string> {
  let output = "";
  for await (const chunk of child.stdout ?? []) {
    output += String(chunk);
    const url = /^url (\S+)$/m.exec(output)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`The application did not start: ${output}`);
}
