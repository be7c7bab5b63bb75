/** HTTP/1.1 over the wire under each runtime: the client is always this Node, the server the runtime's. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { HeaderList } from "../../core/src/protocol/header-list.js";
import { Wire } from "../../core/test/platforms/node/_http.js";
import { accepted, HOST, refused } from "../../core/test/platforms/node/_http1-table.js";
import { NEXT, written } from "../../core/test/platforms/node/_response-table.js";
import { onEach, Program, type RemoteServer } from "./_program.js";

const get = (path: string) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`;
const post = (path: string, length: number) => `POST ${path} HTTP/1.1\r\n${HOST}Content-Length: ${length}\r\n\r\n`;
const contentOf = (answer: string) => answer.slice(answer.indexOf("\r\n\r\n") + 4);

/** Writes bytes one by one, each in a separate segment. */
async function dribble(wire: Wire, text: string): Promise<void> {
  for (const char of text) await new Promise((resolve) => wire.socket.write(char, "latin1", resolve));
}

/** A `HeaderList` does not go over the wire to the program. */
const isPlain = ([, , messages]: (typeof written)[number]) =>
  messages.every((message) => !("headers" in message && message.headers instanceof HeaderList));

onEach("HTTP/1.1 on %s", (...runtime) => {
  let program: Program;
  let server: RemoteServer;
  beforeAll(async () => {
    program = await Program.start(runtime);
    server = await program.serve();
  });
  afterAll(() => program[Symbol.asyncDispose]());

  describe("a request that is not HTTP/1.1", () => {
    it.each(refused)("is rejected: %s", async (_rule, request, status) => {
      for (const before of ["", get("/next")]) {
        const calls = await program.calls();
        await using wire = new Wire(server.port);
        if (before !== "") await wire.write(before).until(/next$/);
        wire.received = "";
        const answer = await wire.write(request).closed;
        expect(Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])).toBe(status);
        expect(answer.toLowerCase()).toContain("\r\nconnection: close\r\n");
        expect(JSON.parse(contentOf(answer))).toEqual({ detail: expect.any(String) });
        expect(await program.calls()).toBe(calls);
      }
    });

    it("is rejected after the responses of the requests before it", async () => {
      await using wire = new Wire(server.port);
      const answer = await wire.write(`${get("/next")}GARBAGE\r\n\r\n${get("/next")}`).closed;
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK[^]*nextHTTP\/1\.1 400 Bad Request[^]*\}$/);
    });

    it("is rejected instead of the body as well, even if it does not end", async () => {
      const head = `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`;
      await using broken = new Wire(server.port);
      expect(await broken.write(`${head}3\r\nabc\r\nzz\r\n`).closed).toMatch(/^HTTP\/1\.1 400 /);
      await using endless = new Wire(server.port);
      expect(await endless.write(`${head}1;${"a".repeat(20_000)}`).closed).toMatch(/^HTTP\/1\.1 413 /);
    });
  });

  describe("a request of HTTP/1.1", () => {
    it.each(accepted)("reaches the application: %s", async (_rule, request, told) => {
      await using wire = new Wire(server.port);
      const answer = await wire.write(request).until(/\}$/);
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(JSON.parse(contentOf(answer))).toMatchObject(told);
    });

    it("is the same if it arrives byte by byte", async () => {
      await using wire = new Wire(server.port);
      await dribble(
        wire,
        `POST /a HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nx: y\r\n\r\n`,
      );
      const answer = await wire.until(/\}$/);
      expect(JSON.parse(contentOf(answer))).toMatchObject({
        path: "/a",
        body: "abc",
        scheme: "http",
        client: "string",
      });
    });

    it("gets its response in order, even if many are sent at the same time", async () => {
      await using wire = new Wire(server.port);
      const paths = Array.from({ length: 200 }, (_, index) => `/${index}`);
      wire.write(paths.map((path, index) => (index % 3 === 0 ? `${post(path, 2)}hi` : get(path))).join(""));
      const answer = await wire.until(/"path":"\/199"[^]*\}$/);
      expect(Array.from(answer.matchAll(/"path":"([^"]+)"/g), ([, path]) => path)).toEqual(paths);
    });

    it("is not served after one that requests a close", async () => {
      await using wire = new Wire(server.port);
      const closing = get("/next").replace(HOST, `${HOST}Connection: close\r\n`);
      expect(await wire.write(closing + get("/behind")).closed).toMatch(/connection: close\r\n\r\nnext$/i);
    });

    it("of OPTIONS * gets a response from the server", async () => {
      await using wire = new Wire(server.port);
      const answer = await wire.write(`OPTIONS * HTTP/1.1\r\n${HOST}\r\n`).until(/\r\n\r\n$/);
      expect(answer).toMatch(/^HTTP\/1\.1 204 No Content\r\n/);
    });

    it("gets 100 Continue when its body is requested, and not before", async () => {
      await using wire = new Wire(server.port);
      wire.write(`POST /held HTTP/1.1\r\n${HOST}Content-Length: 3\r\nExpect: 100-continue\r\n\r\n`);
      await program.reported("held");
      expect(wire.received).toBe("");
      await program.release();
      await wire.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
      await wire.write("abc").until(/200 OK[^]*<3>$/);
      await using refusing = new Wire(server.port);
      refusing.write(`POST /unread HTTP/1.1\r\n${HOST}Content-Length: 3\r\nExpect: 100-continue\r\n\r\n`);
      expect(await refusing.closed).toMatch(/^HTTP\/1\.1 413 [^]*\r\nconnection: close\r\n/i);
    });

    it("gets a response even if the client has ended its side", async () => {
      await using wire = new Wire(server.port);
      wire.socket.end(get("/held"));
      await program.reported("held");
      await program.release();
      expect(await wire.closed).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*<0>$/);
    });

    it("with an incomplete body is rejected", async () => {
      await using wire = new Wire(server.port);
      wire.socket.end(`${post("/count", 10)}half`);
      expect(await wire.closed).toMatch(/^HTTP\/1\.1 400 /);
    });

    it("with a failing application results in 500", async () => {
      await using wire = new Wire(server.port);
      expect(await wire.write(get("/throw")).until(/\}$/)).toMatch(/^HTTP\/1\.1 500 /);
      await program.calls();
      expect(program.lines.pop()).toBe("The application threw: GET /throw Error: broken");
    });

    it.each([
      ["a reset", (socket: Socket) => void socket.resetAndDestroy()],
      ["an end", (socket: Socket) => void socket.end()],
    ])("reports a client that disconnects by %s", async (_how, leave) => {
      await using wire = new Wire(server.port);
      wire.write(get("/wait"));
      await program.reported("waits");
      leave(wire.socket);
      await expect(program.reported("http.disconnect")).resolves.toBeUndefined();
    });
  });

  describe("a response", () => {
    let scripted: RemoteServer;
    beforeAll(async () => {
      scripted = await program.serve({}, "scripted");
    });

    it.each(written.filter(isPlain))("%s", async (_rule, request, messages, expected) => {
      await program.script(messages);
      await using wire = new Wire(scripted.port);
      const answer = await wire.write(request + NEXT).until(/next$/);
      const plain = answer.replaceAll(/(?:Date|Connection|Keep-Alive): .*\r\n/g, "");
      expect(plain).toBe(`${expected}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nnext`);
    });

    it("waits for a client that reads slowly", async () => {
      const BYTES = 64 << 20;
      const socket = connect(server.port, "127.0.0.1");
      socket.write(get(`/download?${BYTES}`).replace(HOST, `${HOST}Connection: close\r\n`));
      await once(socket, "readable");
      let received = 0;
      for await (const chunk of socket as AsyncIterable<Buffer>) {
        received += chunk.reduce((count, byte) => count + (byte === 81 ? 1 : 0), 0);
      }
      expect(received).toBe(BYTES);
    });
  });

  describe("a body", () => {
    it("is not read before it is requested: the client has to wait", async () => {
      const BYTES = 64 << 20;
      await using wire = new Wire(server.port);
      wire.write(post("/held", BYTES));
      for (let sent = 0; sent < BYTES; sent += 1 << 20) wire.socket.write(Buffer.alloc(1 << 20));
      await program.reported("held");
      for (let turn = 0; turn < 200; turn++) await program.calls(); // the server reads on meanwhile, if it does
      expect(wire.socket.writableLength).toBeGreaterThan(BYTES / 2);
      await program.release();
      await wire.until(new RegExp(`<${BYTES}>$`));
    });

    it("is discarded if it is not read and small, and closes the connection without a reset if it is large", async () => {
      await using small = new Wire(server.port);
      const request = post("/unread", 5000) + "a".repeat(5000);
      await small.write(request + request).until(/too much[^]*too much$/);
      await using large = new Wire(server.port);
      const errors: unknown[] = [];
      large.socket.on("error", (error) => errors.push(error));
      large.write(post("/unread", 8 << 20)).socket.write(Buffer.alloc(8 << 20));
      expect(await large.closed).toMatch(/^HTTP\/1\.1 413 [^]*\r\nconnection: close\r\n[^]*too much$/);
      expect(errors).toEqual([]);
    });

    it("without end is aborted", async () => {
      await using wire = new Wire(server.port);
      wire.write(`POST /unread HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`);
      const chunk = `10000\r\n${"a".repeat(65_536)}\r\n`;
      const more = () => wire.socket.write(chunk, () => wire.socket.destroyed || setImmediate(more));
      more();
      expect(await wire.closed).toMatch(/^HTTP\/1\.1 413 /);
    });
  });
});
