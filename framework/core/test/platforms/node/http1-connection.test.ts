/** One connection: the order of its responses, and its end. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import * as fc from "../../../../test/support/fast-check.js";
import { Deferred } from "../../../src/common/promises.js";
import { httpApp, pair, readBody, respond, served, Wire, type Served } from "./_http.js";
import { HOST } from "./_http1-table.js";

const get = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\n${HOST}${headers}\r\n`;
const BROKEN = ["GARBAGE\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", "GET /x HT"];

/**
 * `/now` responds immediately, `/later` in a later turn, `/stream` in chunks, `/close` requests a close; each with its
 * path and the body it read. `/unread` responds without reading the body.
 */
const app = httpApp(async (scope, receive, send) => {
  const { path } = scope;
  const headers = path === "/close" ? [pair("connection", "close")] : [];
  if (path === "/unread") {
    await respond(send, 200, `<${path}>`);
    return;
  }
  if (path === "/later") await new Promise((resolve) => setImmediate(resolve));
  if (path === "/now") {
    await respond(send, 200, "</now>");
    return;
  }
  const body = await readBody(receive);
  await send({ type: "http.response.start", status: 200, headers });
  if (path === "/stream") {
    await send({ type: "http.response.body", body: Buffer.from("<"), more_body: true });
    await new Promise((resolve) => setImmediate(resolve));
    await send({ type: "http.response.body", body: Buffer.from("/stream"), more_body: true });
  } else {
    await send({ type: "http.response.body", body: Buffer.from(`<${path}`), more_body: true });
  }
  await send({ type: "http.response.body", body: Buffer.from(`${body.toString("latin1")}>`) });
});

let server: Served;
beforeAll(async () => {
  server = await served(app);
});
afterAll(() => server.close());

interface Answer {
  status: number;
  closes: boolean;
  body: string;
}

/** The received responses, parsed as a client does. Throws if one is incomplete. */
function answersIn(received: string): Answer[] {
  const answers: Answer[] = [];
  let rest = received;
  while (rest !== "") {
    const [head, status] = /^HTTP\/1\.1 (\d{3}) [^]*?\r\n\r\n/.exec(rest) ?? [];
    if (head === undefined) throw new Error(`no answer: ${JSON.stringify(rest)}`);
    rest = rest.slice(head.length);
    const length = /^content-length: (\d+)/im.exec(head)?.[1];
    let body = "";
    if (/^transfer-encoding: chunked/im.test(head)) {
      for (let size = -1; size !== 0;) {
        const line = /^([0-9a-f]+)\r\n/.exec(rest);
        if (line === null) throw new Error(`no chunk: ${JSON.stringify(rest)}`);
        size = Number.parseInt(line[1] as string, 16);
        body += rest.slice(line[0].length, line[0].length + size);
        rest = rest.slice(line[0].length + size + 2);
      }
    } else {
      const end = length === undefined ? (status === "204" ? 0 : rest.length) : Number(length);
      body = rest.slice(0, end);
      rest = rest.slice(end);
    }
    answers.push({ status: Number(status), closes: /^connection: close/im.test(head), body });
  }
  return answers;
}

/** Sends, ends the client's side, and returns the responses until the server ends its own. */
async function answersTo(...parts: string[]): Promise<Answer[]> {
  await using wire = new Wire(server.port);
  for (const part of parts) {
    if (wire.socket.closed) break;
    await new Promise((resolve) => wire.socket.write(part, "latin1", resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
  wire.socket.end();
  return answersIn(await wire.closed);
}

const statuses = (answers: Answer[]) => answers.map(({ status }) => status);

describe("a response that closes the connection", () => {
  const closing = [
    ["the client asks for it", get("/later", "Connection: close\r\n")],
    ["the client asks for it among other things", get("/now", "Connection: x, Close\r\n")],
    ["the client speaks HTTP/1.0", "GET /now HTTP/1.0\r\n\r\n"],
    ["the application asks for it", get("/close")],
    ["the request is malformed", "GET  / HTTP/1.1\r\n\r\n"],
    ["the chunks are malformed", `POST /later HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nx\r\n`],
    ["the body is large and unread", `POST /now HTTP/1.1\r\n${HOST}Content-Length: 100000\r\n\r\n`],
    ["a WebSocket is refused", get("/now", "Connection: upgrade\r\nUpgrade: websocket\r\n")],
    ["a stream to HTTP/1.0 has no other end", "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"],
  ] as const;
  it.each(closing)("is the last one, regardless of the bytes after its request, as %s", async (_why, request) => {
    for (const behind of [get("/behind"), ...BROKEN, "\r\n", `${get("/behind")}${get("/behind")}`]) {
      for (const parts of [[request + behind], [request, behind]]) {
        const answers = await answersTo(...parts);
        expect(answers).toHaveLength(1);
        expect(answers[0]).toMatchObject({ closes: true });
      }
    }
  });
});

describe("a request that is complete", () => {
  it.each(["/now", "/later", "/stream"])("gets a response wherever the bytes after it are split: %s", async (path) => {
    for (const behind of BROKEN) {
      for (let end = 0; end <= behind.length; end++) {
        const [first, ...others] = await answersTo(get(path) + behind.slice(0, end), behind.slice(end));
        expect(first).toMatchObject({ status: 200, body: `<${path}>` });
        expect(others).toHaveLength(1);
        expect(others[0]?.closes).toBe(true);
      }
    }
  });

  it("gets a response if the body of the next one is invalid, which gets 400", async () => {
    const post = `POST /later HTTP/1.1\r\n${HOST}Content-Length: 9\r\n\r\nabc`;
    expect(statuses(await answersTo(get("/now") + post))).toEqual([200, 400]);
    expect(statuses(await answersTo(get("/later") + post))).toEqual([200, 400]);
    const chunked = `POST /later HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3\r\nab`;
    expect(statuses(await answersTo(get("/now"), chunked))).toEqual([200, 400]);
  });

  it("may be followed by empty lines, which are not a request", async () => {
    for (const lines of ["\r\n", "\r\n\r\n", "\r"]) {
      expect(statuses(await answersTo(get("/now") + lines))).toEqual([200]);
      expect(statuses(await answersTo(get("/later"), lines))).toEqual([200]);
    }
  });
});

describe("a client that has ended its side", () => {
  const requests = {
    "a GET": get("/later"),
    "a body of known length": `POST /later HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabc`,
    "a chunked body": `POST /later HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    "a stream": get("/stream"),
    "HTTP/1.0": "GET /later HTTP/1.0\r\n\r\n",
  };
  const names = fc.array(fc.constantFrom(...Object.values(requests).slice(0, 4)), { minLength: 1, maxLength: 5 });

  it.each(Object.entries(requests))("gets its response: %s", async (_what, request) => {
    expect(statuses(await answersTo(request))).toEqual([200]);
  });

  it("gets the responses to all its requests, in order", async () => {
    await fc.assert(
      fc.asyncProperty(names, async (all) => {
        const answers = await answersTo(all.join(""));
        const expected = all.map((text) => `<${/ (\/\w+) /.exec(text)?.[1]}${text.includes("abc") ? "abc" : ""}>`);
        expect(answers.map(({ body }) => body)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});

describe("a connection is kept", () => {
  const versions = ["1.0", "1.1"] as const;
  const options = ["X: y", "Connection: close", "Connection: keep-alive", "Connection: close, keep-alive"];
  const methods = ["GET", "HEAD", "POST"] as const;
  const paths = ["/now", "/stream", "/unread", "/close"];
  const all = versions.flatMap((version) =>
    options.flatMap((option) => methods.flatMap((method) => paths.map((path) => ({ version, option, method, path })))),
  );

  it.each(all)("or not: $method $path HTTP/$version, $option", async ({ version, option, method, path }) => {
    const isStream = path === "/stream" || path === "/close";
    const asks = version === "1.1" ? !option.includes("close") : option === "Connection: keep-alive";
    const isDelimited = version === "1.1" || !isStream || method === "HEAD";
    const isKept = asks && isDelimited && path !== "/close";
    const content = method === "POST" ? "Content-Length: 3\r\n\r\nabc" : "\r\n";
    await using wire = new Wire(server.port);
    wire.write(`${method} ${path} HTTP/${version}\r\n${HOST}${option}\r\n${content}`);
    if (!isKept) {
      expect(await wire.closed).toMatch(/^HTTP\/1\.1 200 [^]*\r\nconnection: close\r\n/);
      return;
    }
    await wire.until(method === "HEAD" ? /\r\n\r\n$/ : />(?:\r\n0\r\n\r\n)?$/);
    expect(wire.received).toMatch(/\r\nConnection: keep-alive\r\n/);
    if (method === "HEAD") expect(wire.received).toMatch(/\r\n\r\n$/);
    wire.received = "";
    await wire.write(get("/now")).until(/<\/now>$/);
  });
});

describe("a body that no application reads", () => {
  const SMUGGLED = get("/smuggled");
  it.each([
    ["known length", `Content-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`],
    ["chunks", `Transfer-Encoding: chunked\r\n\r\n${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`],
  ])("is not parsed as the next request, including OPTIONS *: %s", async (_what, rest) => {
    for (const line of ["OPTIONS * HTTP/1.1", "POST /unread HTTP/1.1", "GET /now HTTP/1.1", "HEAD /now HTTP/1.1"]) {
      const text = `${line}\r\n${HOST}${rest}${get("/later")}`;
      for (const parts of [[text], [text.slice(0, -70), text.slice(-70)]]) {
        await using wire = new Wire(server.port);
        for (const part of parts) {
          await new Promise((resolve) => wire.socket.write(part, resolve));
          await new Promise((resolve) => setImmediate(resolve));
        }
        wire.socket.end();
        const received = await wire.closed;
        expect(received).not.toContain("smuggled");
        expect(received).toMatch(/^HTTP\/1\.1 20\d/);
      }
    }
  });

  it("does not let a later request overtake an earlier one while the client does not read", async () => {
    const large = Buffer.alloc(8 << 20, "x");
    const slow = new Deferred<void>();
    const order: string[] = [];
    await using lazy = await served(
      httpApp(async (scope, _receive, send) => {
        if (scope.path === "/other") return respond(send, 200, "other");
        order.push(scope.path);
        if (scope.path === "/slow") await slow.promise;
        await send({ type: "http.response.start", status: 200 });
        await send({ type: "http.response.body", body: scope.path === "/large" ? large : Buffer.from(scope.path) });
      }),
    );
    await using wire = new Wire(lazy.port);
    wire.socket.pause();
    /** Writes, and lets the server process other requests, which it reads after this. */
    const written = async (text: string) => {
      await new Promise((resolve) => wire.socket.write(text, resolve));
      for (let responses = 0; responses < 10; responses++) await (await fetch(`${lazy.url}/other`)).text();
    };
    await written(`POST /large HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\na`);
    await written(`bc${get("/slow")}${get("/quick")}`);
    expect(order).toEqual(["/large"]);
    wire.socket.resume();
    await wire.until(/x{1000}/);
    slow.resolve();
    await wire.until(/\/quick$/);
    expect(order).toEqual(["/large", "/slow", "/quick"]);
    const bodies = wire.received.replaceAll("x", "").split(/HTTP[^]*?\r\n\r\n/);
    expect(bodies).toEqual(["", "", "/slow", "/quick"]);
  });
});

describe("a client that sends many requests at the same time", () => {
  it("does not delay the others until all of them are served, and gets all responses", async () => {
    const COUNT = 1000;
    const order: string[] = [];
    await using busy = await served(
      httpApp((scope, _receive, send) => {
        order.push(scope.path);
        return respond(send, 200, `<${scope.path}>`);
      }),
    );
    await using many = new Wire(busy.port);
    await using one = new Wire(busy.port);
    await Promise.all([many.write(get("/a")).until(/>$/), one.write(get("/b")).until(/>$/)]);
    many.write(get("/many").repeat(COUNT));
    await one.write(get("/one")).until(/<\/one>$/);
    many.socket.end();
    const answers = answersIn(await many.closed);
    expect(answers.map(({ body }) => body)).toEqual(["</a>", ...Array<string>(COUNT).fill("</many>")]);
    expect(order.indexOf("/one")).toBeLessThan(COUNT / 2);
  });
});

describe("Expect: 100-continue", () => {
  it("gets no 100 once the response has begun, of which it would be part", async () => {
    await using eager = await served(
      httpApp(async (_scope, receive, send) => {
        await send({ type: "http.response.start", status: 200 });
        await send({ type: "http.response.body", body: Buffer.from("begun"), more_body: true });
        const body = await readBody(receive);
        await send({ type: "http.response.body", body });
      }),
    );
    await using wire = new Wire(eager.port);
    wire.write(`POST / HTTP/1.1\r\n${HOST}Content-Length: 3\r\nExpect: 100-continue\r\n\r\n`);
    await wire.until(/begun/);
    const answer = await wire.write("abc").closed;
    expect(answer).not.toContain("100 Continue");
    expect(answersIn(answer)).toEqual([{ status: 200, closes: true, body: "begunabc" }]);
  });
});

describe("a client that resets its connection", () => {
  it("at any byte of its requests does not affect other clients", async () => {
    const text = `POST /later HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n${get("/stream")}`;
    for (let end = 1; end <= text.length; end++) {
      const wire = new Wire(server.port);
      await new Promise((resolve) => wire.socket.write(text.slice(0, end), resolve));
      wire.socket.resetAndDestroy();
      await wire.closed;
    }
    expect(await answersTo(get("/now"))).toMatchObject([{ status: 200 }]);
    expect(server.logger.at("error")).toEqual([]);
  });
});
