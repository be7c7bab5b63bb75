/** A query, a request to another service and a stream end together with the request that started them. @module */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Pool } from "pg";
import { findPostgreSQL } from "../../../sample-auth-app/test/repository/support/find-postgresql.js";
import { Deferred } from "../../core/src/common/promises.js";
import { App, type Limits } from "../../core/src/index.js";
import { serve } from "../../core/src/node.js";
import type { Driver, Endpoint } from "../../core/test/protocol/_driver.js";
import { drivers } from "../../core/test/protocol/_drivers.js";
import { HTTP1Client } from "../../core/test/protocol/_http1-client.js";
import { readWhole } from "../../core/test/protocol/_stage.js";
import { opened } from "../../core/test/protocol/_websocket-calls.js";
import { KeptLog } from "../support/kept-log.js";
import { cancellable } from "./_cancellable.js";

it("has the query of the page on cancellation", () => {
  const read = (file: string) => readFileSync(path.join(import.meta.dirname, file), "utf8");
  const [, own] = read("_cancellable.ts").split(/^\/\*\*.*@module \*\/\n/);
  expect(read("../../docs/cancellation.md")).toContain(own);
});

const connectionString = await findPostgreSQL();
const describeWithPostgreSQL = connectionString === null ? describe.skip : describe;

/** The work of one request, and what is seen of it outside of the process. */
interface Work {
  readonly begun: Promise<void>;
  /** Resolves once the other side has ended too. */
  readonly ended: Promise<void>;
}

const QUERIES = "select pid from pg_stat_activity where application_name = $1 and query like 'select pg_sleep%'";

/** Waits until PostgreSQL runs so many queries of an application. */
async function untilQueries(admin: Pool, name: string, count: number): Promise<void> {
  while ((await admin.query(`${QUERIES} and state = 'active'`, [name])).rowCount !== count) await sleep(5);
}

/** A service that never responds. Its `work` ends when its client disconnects. */
async function startUpstream(): Promise<{ server: Server; url: string; work: () => Work }> {
  let begun = new Deferred<void>();
  let ended = new Deferred<void>();
  const server = createServer((_request, response) => {
    response.on("close", () => ended.resolve());
    begun.resolve();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const work = () => {
    begun = new Deferred();
    ended = new Deferred();
    return { begun: begun.promise, ended: ended.promise };
  };
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, work };
}

describeWithPostgreSQL("the work of a request (PostgreSQL)", () => {
  const name = `tsgi_signal_${process.pid}`;
  let admin: Pool;
  let pool: Pool;
  let upstream: Awaited<ReturnType<typeof startUpstream>>;

  beforeAll(async () => {
    admin = new Pool({ connectionString: connectionString ?? "" });
    pool = new Pool({ connectionString: connectionString ?? "", application_name: name });
    upstream = await startUpstream();
    for (const driver of drivers) await driver.open?.();
  });
  afterAll(async () => {
    for (const driver of drivers) await driver.close?.();
    upstream.server.close();
    await pool.end();
    await admin.end();
  });

  function create(limits: Partial<Limits> = {}) {
    const log = new KeptLog();
    const app = new App({ logger: log, limits });
    const params = { signal: AbortSignal };
    const query = (signal: AbortSignal) => cancellable(pool, signal, "select pg_sleep(600)");
    app.get("/query", { params }, async ({ signal }) => query(signal));
    app.get("/fetch", { params }, async ({ signal }) => (await fetch(upstream.url, { signal })).text());
    app.get("/stream", { params }, async function* ({ signal }) {
      yield "first";
      yield query(signal);
    });
    app.websocket("/socket", { params }, async ({ ws, signal }) => {
      await ws.accept();
      await query(signal);
    });
    return { app, log };
  }

  function watch(target: string): Work {
    if (target === "/fetch") return upstream.work();
    const begun = untilQueries(admin, name, 1);
    return { begun, ended: begun.then(() => untilQueries(admin, name, 0)) };
  }

  const errorsOf = ({ lines }: KeptLog) => lines.filter((line) => /^(warn|error) /.test(line));

  /** Uses a server. @returns the errors in its log. */
  async function on(driver: Driver, { app, log }: ReturnType<typeof create>, use: (to: Endpoint) => Promise<void>) {
    const endpoint = await driver.start(app, { logger: log, state: {} });
    await use(endpoint);
    endpoint.cut();
    await endpoint.stop();
    return errorsOf(log);
  }

  const targets = ["/query", "/fetch", "/stream"];

  it.each(drivers.flatMap((driver) => targets.map((target) => ({ driver, name: driver.name, target }))))(
    "ends if the client disconnects, on $name at $target",
    async ({ driver, target }) => {
      const errors = await on(driver, create(), async (endpoint) => {
        const { begun, ended } = watch(target);
        const client = new AbortController();
        const response = readWhole(endpoint.request({ target, signal: client.signal }));
        await begun;
        client.abort();
        await ended;
        await response;
      });
      expect(errors).toEqual([]);
    },
  );

  it.each(drivers.filter(({ lacks }) => !lacks.websocket).map((driver) => ({ driver, name: driver.name })))(
    "ends if the client closes the WebSocket, on $name",
    async ({ driver }) => {
      const errors = await on(driver, create(), async (endpoint) => {
        const { begun, ended } = watch("/socket");
        const webSocket = opened(await endpoint.websocket!({ target: "/socket" }));
        await begun;
        await webSocket.close(1000);
        await ended;
      });
      expect(errors).toEqual([]);
    },
  );

  it.each(drivers.flatMap((driver) => ["/query", "/fetch"].map((target) => ({ driver, name: driver.name, target }))))(
    "ends if the time of the handler is up, on $name at $target",
    async ({ driver, target }) => {
      const errors = await on(driver, create({ handlerMs: 200 }), async (endpoint) => {
        const { ended } = upstream.work();
        expect(await readWhole(endpoint.request({ target }))).toMatchObject({ status: 504 });
        await (target === "/fetch" ? ended : untilQueries(admin, name, 0));
      });
      expect(errors).toEqual([]);
    },
  );

  it.each(targets)("ends before the server that stops has closed, at %s", async (target) => {
    const { app, log } = create();
    const server = await serve(app, { port: 0, signals: false, logger: log, loop: "libuv", shutdownTimeoutMs: 1_000 });
    const { begun, ended } = watch(target);
    const response = readWhole(new HTTP1Client(server.url).request({ target }));
    await begun;
    await expect(server.close()).rejects.toMatchObject({ name: "ShutdownTimeoutError" });
    await ended;
    await response;
    expect(errorsOf(log)).toEqual([]);
  });
});
