/** Streams and clients that disconnect, the same on every runtime, with the application of `http-app.mjs`. */
import { readFile } from "node:fs/promises";
import { get, request, type IncomingMessage } from "node:http";
import { expect, it } from "@jest/globals";
import { Wire } from "../../core/test/platforms/node/_http.js";
import type { Program } from "./_program.js";

const MEBIBYTE = 2 ** 20;
/** MiB that go through, and by which the process may grow meanwhile. */
const LARGE = 1024;
const MAX_GROWTH = 160;
/**
 * MiB that can be buffered between the application and a client that does not read: by both sockets and the platform.
 */
const MAX_AHEAD = 32;

/** The MiB that a process has in memory. */
async function residentMiB({ child }: Program): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

/** Calls until the result does not change any more, and returns it. */
async function settled(ask: () => Promise<number>): Promise<number> {
  let last = await ask();
  for (let same = 0; same < 50;) {
    const now = await ask();
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return last;
}

/** Defines the rows against a program, and the address in it, that are known when they run. */
export function defineStreamRows(program: () => Program, url: () => string): void {
  const ask = async (path: string): Promise<unknown> => (await fetch(url() + path)).json();
  const wire = (start: string) => new Wire(Number(new URL(url()).port)).write(`${start} HTTP/1.1\r\nHost: a\r\n\r\n`);

  it("sends 1 GiB in constant memory", async () => {
    const before = await residentMiB(program());
    const response = await new Promise<IncomingMessage>((resolve) =>
      get(`${url()}/large/${LARGE}`, { agent: false }, resolve),
    );
    let [length, growth, next] = [0, 0, 0];
    for await (const chunk of response as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length < next) continue;
      next += 16 * MEBIBYTE;
      growth = Math.max(growth, (await residentMiB(program())) - before);
    }
    expect(length).toBe(LARGE * MEBIBYTE);
    expect(growth).toBeLessThan(MAX_GROWTH);
  });

  it("takes 1 GiB in constant memory", async () => {
    const before = await residentMiB(program());
    const sending = request(`${url()}/count`, { method: "POST", agent: false });
    const answered = new Promise<IncomingMessage>((resolve) => sending.once("response", resolve));
    const part = Buffer.alloc(MEBIBYTE);
    let growth = 0;
    for (let sent = 0; sent < LARGE; sent++) {
      await new Promise((resolve) => sending.write(part, resolve));
      if (sent % 16 === 0) growth = Math.max(growth, (await residentMiB(program())) - before);
    }
    sending.end();
    expect(Buffer.concat((await (await answered).toArray()) as Buffer[]).toString()).toBe(String(LARGE * MEBIBYTE));
    expect(growth).toBeLessThan(MAX_GROWTH);
  });

  it("produces no more of a response than a client reads and sockets buffer", async () => {
    await using reading = wire(`GET /large/${LARGE}`);
    reading.socket.pause();
    const ahead = await settled(async () => Number(await ask("/made")));
    expect(ahead).toBeGreaterThan(0);
    expect(ahead).toBeLessThan(MAX_AHEAD);
  });

  it("reads no more of a body than is requested and sockets buffer", async () => {
    const total = 128 * MEBIBYTE;
    await using sending = new Wire(Number(new URL(url()).port));
    sending.write(`POST /held HTTP/1.1\r\nHost: a\r\nContent-Length: ${total}\r\n\r\n`);
    for (let sent = 0; sent < total; sent += MEBIBYTE) sending.socket.write(Buffer.alloc(MEBIBYTE));
    expect(await ask("/notes/held?count=1")).toEqual(["begun"]);
    const left = await settled(async () => {
      await ask("/taken");
      return sending.socket.writableLength;
    });
    expect((total - left) / MEBIBYTE).toBeLessThan(MAX_AHEAD);
    await ask("/release");
    await sending.until(new RegExp(`${total}$`));
  });

  it.each([
    ["is told so while it waits", "/abort/wait/wait", ["waits", "aborted"]],
    ["is told so in a mounted handler", "/abort/other/mounted/wait", ["waits", "aborted"]],
    ["is told so after the head", "/abort/raw/raw", ["waits", "http.disconnect"]],
  ])("an application whose client disconnects %s", async (_how, path, notes) => {
    await using leaving = wire(`GET ${path}`);
    const key = ["mounted", "raw"].find((word) => path.includes(word)) ?? "wait";
    expect(await ask(`/notes/${key}?count=1`)).toEqual(["waits"]);
    leaving.socket.resetAndDestroy();
    expect(await ask(`/notes/${key}?count=2`)).toEqual(notes);
  });

  it.each([
    ["a generator", "/abort/stream/stream", "stream", "closed"],
    ["a platform's Response", "/abort/web/web", "web", "closed"],
    ["a mounted handler", "/abort/other/body/stream", "body", "cancelled"],
  ])("closes the source of a stream if its client disconnects: %s", async (_what, path, key, note) => {
    await using leaving = wire(`GET ${path}`);
    await leaving.until(/\r\n\r\n/);
    leaving.socket.resetAndDestroy();
    expect(await ask(`/notes/${key}?count=1`)).toEqual([note]);
  });
}
