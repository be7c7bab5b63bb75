/** Each border of the page, with the behavior of tsgi and of a peer. */
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { BORDERS } from "./_borders.js";
import { type Program, startFastify, startTsgi, startUpstream } from "./_programs.js";

const CORE = path.join(import.meta.dirname, "../../core/src");
const PAGE = path.join(import.meta.dirname, "../../docs/borders.md");

/** Sends bytes, and reads until the last chunk of a body, or until the server closes the connection. */
async function exchange(port: number, bytes: Buffer): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(bytes);
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      if (/transfer-encoding: chunked[^]*\r\n0\r\n\r\n$/i.test(Buffer.concat(chunks).toString("latin1"))) break;
    }
  } catch {
    chunks.push(Buffer.from(" (reset)"));
  }
  return Buffer.concat(chunks).toString();
}

/** The status of a response, and its body if it is a success. */
function outcomeOf(response: string): string {
  const end = response.indexOf("\r\n\r\n");
  const status = /^HTTP\/1\.1 (\d+)/.exec(response)?.[1] ?? "no response";
  if (!status.startsWith("2")) return status;
  const [head, body] = [response.slice(0, end), response.slice(end + 4)];
  const isChunked = /\r\ntransfer-encoding: chunked/i.test(head);
  const text = isChunked ? body.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/gi, "").trim() : body;
  const isWhole = !isChunked || /(?:^|\r\n)0\r\n\r\n$/.test(body);
  const coding = /\r\ncontent-encoding: (\w+)/i.exec(head)?.[1];
  const shown = text === "" ? "without a body" : `\`${text}\``;
  return `${status} ${shown}${isWhole ? "" : ", cut"}${coding === undefined ? "" : `, marked as ${coding}`}`;
}

let programs: { upstream: Program; tsgi: Program; fastify: Program };
beforeAll(async () => {
  const upstream = await startUpstream();
  const url = `http://127.0.0.1:${upstream.port}`;
  programs = { upstream, tsgi: await startTsgi(url), fastify: await startFastify(url) };
});
afterAll(async () => {
  for (const program of Object.values(programs)) await program[Symbol.asyncDispose]();
});

const page = readFileSync(PAGE, "utf8");
const [code = "", inputs = ""] = page.split("## Inputs");

/** The cells of the second table, in the order of the rows. */
const rows = inputs
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (?:Border|-)/.test(line))
  .map((line) =>
    line
      .slice(1, -1)
      .split(" | ")
      .map((cell) => cell.trim()),
  );

describe("the borders", () => {
  it.each(BORDERS.map((border, index) => ({ ...border, index })))(
    "have the documented behavior: $place, $input",
    async ({ place, input, request, index, endsPeer = false }) => {
      const own = outcomeOf(await exchange(programs.tsgi.port, request));
      const peer = endsPeer ? "ends the process" : outcomeOf(await exchange(programs.fastify.port, request));
      expect([place, input, own, peer]).toEqual(rows[index]);
    },
  );

  it("are all on the page, with files that exist", () => {
    expect(rows).toHaveLength(BORDERS.length);
    const [, table = ""] = code.split("## Code");
    const files = [...table.matchAll(/`([\w/-]+\.ts)`/g)].map(([, file = ""]) => file);
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((file) => !existsSync(path.join(CORE, file)))).toEqual([]);
  });
});
