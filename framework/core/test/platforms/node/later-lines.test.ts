import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect as connectSecurely } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import * as fc from "../../../../test/support/fast-check.js";
import { httpApp, readBody, respond, served, Wire, type Served } from "./_http.js";

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "fixtures", name));
const app = httpApp(async (scope, receive, send) => {
  await readBody(receive);
  await respond(send, 200, `<${scope.path}>`);
});

let server: Served;
beforeAll(async () => {
  server = await served(app);
});
afterAll(() => server.close());

/** The form of a request: normal, or with additions outside the request line. */
const bodies = {
  none: ["", ""],
  sized: ["Content-Length: 5\r\n", "hello"],
  chunked: ["Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"],
  "like a request": ["Content-Length: 21\r\n", "GET  /a HTTP/1.1\r\n\r\n "],
} as const;
const request = fc.record({
  path: fc.constantFrom<string>("/", "/a", "/a/b"),
  hostLine: fc.constantFrom("Host: a", "Host:a", "Host:   a", "Host: a  ", "Host:\ta"),
  before: fc.constantFrom("", "\r\n"),
  body: fc.constantFrom(...(Object.keys(bodies) as (keyof typeof bodies)[])),
});
type Written = typeof request extends fc.Arbitrary<infer Value> ? Value : never;

function write({ path, hostLine, before, body }: Written, [first, second] = [" ", " "]): string {
  const [line, content] = bodies[body];
  return `${before}POST${first}${path}${second}HTTP/1.1\r\n${hostLine}\r\n${line}\r\n${content}`;
}

/** The paths with a 200 response, in order. */
const answered = (wire: Wire) => Array.from(wire.received.matchAll(/<(\/[^>]*)>/g), ([, path]) => path);
const lastAnswer = (count: number) => new RegExp(`(?:<[^]*?){${count}}>$`);

describe("later request lines of a connection", () => {
  it("are accepted however their requests are written and split into packets", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(request, { minLength: 2, maxLength: 6 }),
        fc.infiniteStream(fc.nat(90)),
        async (all, cuts) => {
          await using wire = new Wire(server.port);
          let text = all.map((each) => write(each)).join("");
          while (text !== "") {
            const end = 1 + (cuts.next().value as number);
            await new Promise((resolve) => wire.socket.write(text.slice(0, end), "latin1", resolve));
            text = text.slice(end);
          }
          await wire.until(lastAnswer(all.length));
          expect(answered(wire)).toEqual(all.map(({ path }) => path));
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each([
    ["two spaces before the target", ["  ", " "]],
    ["two spaces after the target", [" ", "  "]],
    ["many spaces", ["     ", "   "]],
  ] as const)("with %s are rejected after any earlier line", async (_what, spaces) => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 3 }), fc.boolean(), async (all, atOnce) => {
        await using wire = new Wire(server.port);
        const last = { path: "/bad", hostLine: "Host: a", before: "", body: "none" } as const;
        if (!atOnce) {
          await wire.write(all.map((each) => write(each)).join("")).until(lastAnswer(all.length));
        }
        wire.write(`${atOnce ? all.map((each) => write(each)).join("") : ""}${write(last, [...spaces])}`);
        await wire.until(/HTTP\/1\.1 400 [^]*\{"detail":"The request line is malformed\."\}$|bad/);
        expect(answered(wire)).toEqual(all.map(({ path }) => path));
      }),
      { numRuns: 20 },
    );
  });

  it("are rejected too if they arrive in chunks, because the head is longer than it states", async () => {
    await using wire = new Wire(server.port);
    await wire.write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n").until(/<\/a>/);
    for (const char of "GET  /b HTTP/1.1\r\nHost: a\r\n\r\n") {
      await new Promise((resolve) => wire.socket.write(char, resolve));
    }
    expect(await wire.until(/<\/b>|malformed/)).toMatch(/HTTP\/1\.1 (?:400|200)/);
  });

  it("are checked with TLS as well", async () => {
    await using secure = await served(app, {
      tls: { cert: fixture("localhost.cert.pem"), key: fixture("localhost.key.pem") },
    });
    const socket = connectSecurely({ port: secure.port, host: "127.0.0.1", rejectUnauthorized: false });
    let received = "";
    const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(received)));
    socket.write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString();
      if (received.endsWith("<//a>") || received.endsWith("</a>")) {
        socket.write("GET  /b HTTP/1.1\r\nHost: a\r\n\r\n");
      }
    });
    expect(await closed).toMatch(/<\/a>HTTP\/1\.1 400 /);
  });
});
