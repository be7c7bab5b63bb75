/** All calls of the tool library at the same time, and clients that disconnect from each of them. */
import { once } from "node:events";
import { connect as connectHTTP2, constants } from "node:http2";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { KeptLog } from "../support/kept-log.js";
import { outgoingOf } from "../support/call.js";
import { backroomRows } from "./_backroom-calls.js";
import { type Row, rows as otherRows } from "./_calls.js";
import { drivers, driversOfRun, onHTTP1, type Served } from "./_drivers.js";
import { seenOf, wantedOf } from "./_observe.js";
import { createApp } from "./app/app.js";
import { Witness } from "./app/observation.js";

/** Rows that neither change nor read what others change. */
const rows = [...otherRows, ...backroomRows].filter(({ needs, target }) => {
  return !needs.includes("memory") && !/\/(?:admin\/visits|switch|v1\/login)/.test(target);
});

/** TestClient keeps the cookies of one response for all later requests. */
const independent = driversOfRun("serve over HTTP/2").filter(({ name }) => name !== "TestClient");

describe.each(independent)("all calls at the same time by $name", ({ start, lacks }) => {
  let served: Served;
  beforeAll(async () => {
    served = await start(createApp({ logger: new KeptLog() }).app);
  });
  afterAll(() => served.close());

  it("have the responses that they have one by one", async () => {
    const met = rows.filter(({ needs }) => !needs.some((need) => lacks.includes(need)));
    const answers = await Promise.all(met.map(({ method, target, sent }) => served.send(method, target, sent)));
    const seen = answers.map((answer, index) => [met[index]!.title, seenOf(answer, met[index]!.expected)]);
    expect(seen).toEqual(met.map(({ title, expected }) => [title, wantedOf(expected)]));
  });
});

/** A request as bytes, for a connection that ends with it. */
function bytesOf({ method, target, sent }: Row): Buffer {
  const { headers, chunks } = outgoingOf(sent);
  const body = Buffer.concat(chunks);
  const host = headers.some(([name]) => name === "host") ? "" : "host: 127.0.0.1\r\n";
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const head = `${method} ${target} HTTP/1.1\r\n${host}${lines}content-length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), body]);
}

type Leave = (socket: Socket, request: Buffer) => Promise<unknown>;

const write = (socket: Socket, bytes: Uint8Array) => new Promise((resolve) => socket.write(bytes, resolve));

const WAYS_OUT: readonly [when: string, leave: Leave, reached: (row: Row) => boolean][] = [
  // Without a body it is the head that is cut.
  [
    "in the middle of the request",
    (socket, request) => write(socket, request.subarray(0, -1)),
    ({ sent }) => Buffer.concat(outgoingOf(sent).chunks).length > 0,
  ],
  ["right after the request", write, () => true],
  [
    "at the first byte of the response",
    async (socket, request) => Promise.all([write(socket, request), once(socket, "data")]),
    () => true,
  ],
];

/** Rows whose error is logged: the disconnect is not the reason. */
const isServersFault = ({ expected, target }: Row) => expected.status >= 500 || target.startsWith("/v1/loans/1");

describe("clients that disconnect", () => {
  it.each(WAYS_OUT)("%s cause no error of any route, and keep no resources", async (_when, leave, reached) => {
    const log = new KeptLog();
    const witness = new Witness();
    const served = await onHTTP1(createApp({ logger: log, instrumentation: [witness] }).app);
    const { port } = new URL(served.url!);
    const quiet = rows.filter((row) => !isServersFault(row));
    await Promise.all(
      quiet.map(async (row) => {
        const socket = connect(Number(port), "127.0.0.1");
        socket.on("error", () => {});
        await once(socket, "connect");
        await leave(socket, bytesOf(row));
        socket.destroy();
        if (!socket.closed) await once(socket, "close");
      }),
    );
    expect((await served.send("GET", "/health/ready")).status).toBe(200);
    await served.close(); // waits for what still runs
    expect(witness.take()).toHaveLength(quiet.filter(reached).length + 1); // and the one for its health
    expect(log.lines.filter((line) => /^(?:error|warn)/.test(line) && !line.includes("inline"))).toEqual([]);
  });

  it("by a reset of their streams when the response begins cause no error of any HTTP/2 route", async () => {
    const log = new KeptLog();
    const witness = new Witness();
    const { start } = drivers.find(({ name }) => name === "serve over HTTP/2")!;
    const served = await start(createApp({ logger: log, instrumentation: [witness] }).app);
    const session = connectHTTP2(served.url!);
    session.on("error", () => {});
    const quiet = rows.filter((row) => !isServersFault(row) && !row.needs.includes("twice") && row.method !== "TRACE");
    await Promise.all(
      quiet.map(async ({ method, target, sent }) => {
        const { headers, chunks } = outgoingOf(sent);
        const fields = Object.fromEntries(headers.filter(([name]) => name !== "host"));
        const body = Buffer.concat(chunks);
        const stream = session.request(
          { ...fields, ":method": method, ":path": target },
          { endStream: body.length === 0 },
        );
        stream.on("error", () => {});
        if (body.length > 0) stream.end(body);
        await once(stream, "response");
        stream.close(constants.NGHTTP2_CANCEL);
        if (!stream.closed) await once(stream, "close");
      }),
    );
    session.destroy();
    expect((await served.send("GET", "/health/ready")).status).toBe(200);
    await served.close();
    expect(witness.take()).toHaveLength(quiet.length + 1);
    expect(log.lines.filter((line) => /^(?:error|warn)/.test(line) && !line.includes("inline"))).toEqual([]);
  });
});
