import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "@jest/globals";
import { pino } from "pino";
import { PrettyLog } from "../src/pretty-log.js";
import { App } from "tsgi";
import { accessLog } from "tsgi/middleware";
import { call } from "../../test/support/call.js";

/** Shows these chunks. */
async function show(chunks: readonly (string | Uint8Array)[], hasColors = false): Promise<Buffer> {
  const pretty = new PrettyLog({ hasColors });
  return buffer(Readable.from(chunks.map((chunk) => Buffer.from(chunk))).pipe(pretty));
}

const showText = async (text: string, hasColors = false) => (await show([text], hasColors)).toString();

/** Gives the lines of pino. */
function written(log: (logger: pino.Logger) => void, options: pino.LoggerOptions = {}): string {
  let text = "";
  log(pino({ level: "trace", ...options }, { write: (line) => void (text += line) }));
  return text;
}

const CLOCK = String.raw`\d\d:\d\d:\d\d\.\d{3}`;

const STACK = `TypeError: no item
    at parse (node:internal/url:816:36)
    at Endpoint.run (/srv/shop/node_modules/tsgi/dist/app/endpoint.js:10:2)
    at async readItem (file:///srv/shop/src/items.ts:12:5)
    at new Promise (<anonymous>)
    at async load (/srv/shop/src/load.ts:3:1)`;

describe("the log that `tsgi dev` shows", () => {
  it("prints a pino line as time, level, message and fields, without those about the process", async () => {
    const line = written((logger) => logger.info({ user: "ada", list: [1], requestId: "id-1" }, "item read"));
    expect(await showText(line)).toMatch(
      new RegExp(`^${CLOCK} INFO  item read user=ada list=\\[1\\] requestId=id-1\n$`),
    );
  });

  it.each([
    ["level labels", { formatters: { level: (level: string) => ({ level }) } }],
    ["ISO times", { timestamp: pino.stdTimeFunctions.isoTime }],
    ["another key of the message", { messageKey: "message" }],
    ["a level of its own", { customLevels: { notice: 35 } }],
  ])("reads lines with %s", async (_title, options: pino.LoggerOptions) => {
    expect(await showText(written((logger) => logger.warn("careful"), options))).toMatch(/^\S{12} WARN {2}careful\n$/);
  });

  it("has all levels, and numbers of levels that pino does not name", async () => {
    const levels = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
    const text = await showText(written((logger) => levels.forEach((level) => logger[level]("x"))));
    expect(text.match(/[A-Z]+/g)).toEqual(levels.map((level) => level.toUpperCase()));
    expect(await showText('{"level":35,"time":0,"msg":"x"}\n')).toMatch(/ LEVEL 35 x\n$/);
  });

  it("has the lines of accessLog as method, path, status and duration", async () => {
    const lines: string[] = [];
    const app = new App({ instrumentation: accessLog({ write: (line) => void lines.push(`${line}\n`) }) });
    app.get("/items/{id}", async () => 1);
    await call(app, "GET", "/items/5");
    await call(app, "GET", "/none");
    const text = await showText(lines.join(""));
    expect(text).toMatch(new RegExp(`^${CLOCK} GET /items/5 200 [\\d.]+ ms.*\n${CLOCK} GET /none 404 [\\d.]+ ms.*\n$`));
    const left = JSON.stringify({
      time: "2026-01-31T12:00:00.000Z",
      method: "GET",
      path: "/",
      status: null,
      durationMs: 5,
    });
    expect(await showText(`${left}\n`)).toMatch(/ GET \/ left 5 ms\n$/);
  });

  it("has the frames of the user's code first in a stack", async () => {
    const err = Object.assign(new TypeError("no item"), { stack: STACK, code: "E_ITEM" });
    const text = await showText(written((logger) => logger.error({ err }, "failed")));
    expect(text.split("\n").slice(1)).toEqual([
      "    TypeError: no item code=E_ITEM",
      "        at async readItem (file:///srv/shop/src/items.ts:12:5)",
      "        at async load (/srv/shop/src/load.ts:3:1)",
      "        at parse (node:internal/url:816:36)",
      "        at Endpoint.run (/srv/shop/node_modules/tsgi/dist/app/endpoint.js:10:2)",
      "        at new Promise (<anonymous>)",
      "",
    ]);
  });

  it("prints the cause of an error after it, in pino's format and as a field", async () => {
    const inner = Object.assign(new Error("inner"), {
      stack: "Error: inner\n    at a (node:fs:1:1)\n    at b (/srv/b.ts:1:1)",
    });
    const outer = Object.assign(new Error("outer", { cause: inner }), {
      stack: "Error: outer\n    at c (/srv/c.ts:1:1)",
    });
    const order = (text: string) => text.match(/outer|inner|\w\.ts|node:fs/g)?.join(" ");
    const plain = await showText(written((logger) => logger.error({ err: outer }, "x")));
    expect(order(plain)).toBe("outer c.ts inner b.ts node:fs");
    const nested = { level: 50, time: 0, msg: "x", err: { stack: outer.stack, cause: { stack: inner.stack } } };
    expect(order(await showText(`${JSON.stringify(nested)}\n`))).toBe("outer c.ts inner b.ts node:fs");
  });

  it("prints the errors that an error contains after it", async () => {
    const refused = new AggregateError([new Error("connect ::1:1"), new Error("connect 127.0.0.1:1")], "");
    const text = await showText(written((logger) => logger.error({ err: refused }, "failed")));
    const lines = text.split("\n").map((line) => line.trim());
    expect(lines.filter((line) => /^(?:contains|Error|AggregateError)/.test(line))).toEqual([
      "AggregateError:",
      "contains",
      "Error: connect ::1:1",
      "contains",
      "Error: connect 127.0.0.1:1",
    ]);
    expect(text).not.toContain("aggregateErrors");
  });

  it("uses color only if requested, and dims stack frames of dependencies", async () => {
    const line = written((logger) => logger.error({ err: Object.assign(new Error("x"), { stack: STACK }) }, "failed"));
    const [plain, colored] = [await showText(line), await showText(line, true)];
    expect(plain).not.toContain("\u001b");
    expect(stripVTControlCharacters(colored)).toBe(plain);
    expect(colored).toContain("\u001b[31mERROR\u001b[39m");
    expect(colored).toContain("\u001b[2m    at parse (node:internal/url:816:36)\u001b[22m");
    expect(colored).toContain("\n        at async readItem (file:///srv/shop/src/items.ts:12:5)\n");
  });

  it("lets no value drive the terminal or forge a line", async () => {
    const evil = "a\u001b[2J\r\nforged\u009b\u2028";
    const line = written((logger) =>
      logger.error({ [evil]: evil, err: Object.assign(new Error(evil), { stack: evil }) }, evil),
    );
    const text = await showText(line);
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Zl}]/u);
    expect(text.split("\n").every((each, index) => index === 0 || each === "" || each.startsWith("    "))).toBe(true);
  });

  it.each([
    "plain text\n",
    "{ not JSON }\n",
    '{"level":30,"msg":"no time"}\n',
    '{"time":1,"msg":"no level"}\n',
    '{"level":"loud","time":1}\n',
    '{"level":30,"time":"soon"}\n',
    '{"level":30,"time":1e300}\n',
    '[{"level":30,"time":1}]\n',
    "{\n",
    "\n\n",
    "no end",
    '{"level":30,"time":1,"msg":"no end"}',
    ' {"level":30,"time":1}\n',
    "progress 10%\rprogress 20%\r",
  ])("does not change %j", async (text) => {
    expect(await showText(text)).toBe(text);
    expect((await show(Array.from(text))).toString()).toBe(text);
  });

  it("leaves a line that is nested too deeply as it is", async () => {
    const line = `{"level":30,"time":1,"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}\n`;
    expect(await showText(line)).toBe(line);
  });

  it("does not change bytes that are not text", async () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7919) % 256);
    expect((await show([bytes, "{", bytes])).equals(Buffer.concat([bytes, Buffer.from("{"), bytes]))).toBe(true);
  });

  it("joins a line that arrives in chunks, even if it is split inside a character", async () => {
    const line = Buffer.from(written((logger) => logger.info("né à Zürich")));
    const pieces = Array.from(line, (byte) => Uint8Array.of(byte));
    expect((await show(["before ", "line\n", ...pieces, "after"])).toString()).toMatch(
      /^before line\n\S+ INFO {2}né à Zürich\nafter$/,
    );
  });

  it("lets a line that does not begin with an object pass before it is complete", () => {
    const pretty = new PrettyLog({ hasColors: false });
    pretty.write("Continue? ");
    expect(String(pretty.read())).toBe("Continue? ");
    pretty.write('{"level":30,"time":1}\n'); // still the same line
    expect(String(pretty.read())).toBe('{"level":30,"time":1}\n');
    pretty.write('{"level":30,');
    expect(pretty.read()).toBeNull();
  });

  it("prints a line that is too long unchanged, and continues with the next one", async () => {
    const long = `{"level":30,"time":1,"msg":"${"x".repeat(300_000)}"}\n`;
    const pieces = long.match(/[^]{1,4000}/g) ?? [];
    const shown = (await show([...pieces, '{"level":30,"time":1,"msg":"next"}\n'])).toString();
    expect(shown.startsWith(long)).toBe(true);
    expect(shown.slice(long.length)).toMatch(/ INFO {2}next\n$/);
  });

  it("does not lose output to a slow reader", async () => {
    const line = '{"level":30,"time":1,"msg":"m"}\n';
    let count = 0;
    await pipeline(
      Readable.from(Array.from({ length: 5000 }, () => Buffer.from(line))),
      new PrettyLog({ hasColors: false }),
      async (source: AsyncIterable<Buffer>) => {
        for await (const chunk of source) count += chunk.toString().match(/INFO/g)?.length ?? 0;
      },
    );
    expect(count).toBe(5000);
  });
});
