import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import {
  App,
  type ASGIApp,
  type ConfigurationError,
  Depends,
  File,
  FileResponse,
  HTTPException,
  JSONResponse,
  Request,
  Response,
  t,
  withParams,
} from "tsgi";
import { nextTurn } from "tsgi/internals";
import { httpMiddleware } from "tsgi/middleware";
import { APIKeyHeader } from "tsgi/security";
import { idempotent, type IdempotentOptions, transactionOf } from "../src/index.js";
import { openedOf } from "../src/transaction.js";
import { type Answer, call, type Sent } from "../../test/support/call.js";
import { KeptLog } from "../../test/support/kept-log.js";
import { describeMatrix } from "../../test/support/matrix.js";
import { IS_SLOW } from "../../test/support/on-demand.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../test/support/postgres-cluster.js";
import { createFile, createSchema, openClient } from "./_clients.js";

const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;

const PAGE = readFileSync(path.resolve(import.meta.dirname, "../../docs/prisma.md"), "utf8");

interface Raw {
  $executeRawUnsafe(sql: string): Promise<number>;
  $queryRawUnsafe(sql: string): Promise<Record<string, unknown>[]>;
}
const raw = (client: unknown) => client as Raw;

let cluster: Cluster;
beforeAll(async () => {
  if (WITHOUT_CLUSTER === null) cluster = await startCluster();
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

async function openShop(name: string) {
  const file = name === "SQLite" ? await createFile() : null;
  const url = file?.url ?? createSchema(cluster.url);
  const db = await openClient(url, { poolSize: 5, waitMs: 10_000 });
  const log = new KeptLog();
  const app = new App({ logger: log });
  const transaction = transactionOf(Depends(async () => db, { scope: "app" }));
  const take = (options: IdempotentOptions = {}) => ({ tx: Depends(idempotent(transaction, options)) });
  const dispose = async () => {
    await db.$disconnect();
    await file?.[Symbol.asyncDispose]();
  };
  const rows = (columns: string) => raw(db).$queryRawUnsafe(`SELECT ${columns} FROM "tsgi_idempotency"`);
  return { url, db, app, log, take, transaction, rows, [Symbol.asyncDispose]: dispose };
}
type Shop = Awaited<ReturnType<typeof openShop>>;

/** For tests to which the database makes no difference: they run on PostgreSQL only with TSGI_SLOW. */
const anywhere = (name: string) => (name === "SQLite" || IS_SLOW ? it : it.skip);

/** A route that writes a row for each run, and shows the number of the rows. */
function addRoute({ app, take }: Shop, options: IdempotentOptions = {}) {
  const params = { ...take(options), user: t.Object({ name: t.String() }), response: Response };
  app.post("/users", { params, statusCode: 201 }, async ({ tx, user, response }) => {
    const { id } = await tx.user.create({ data: { name: `${user.name} ${await tx.user.count()}` } });
    response.headers.set("location", `/users/${id}`);
    return { id };
  });
}

const keyed = (key: string, json: unknown = { name: "ada" }, headers: (readonly [string, string])[] = []): Sent => ({
  headers: [["idempotency-key", key], ["authorization", "Bearer ada"], ...headers],
  json,
});
const isReplayed = (answer: Answer) => answer.headers["idempotency-replayed"] ?? null;

describeMatrix("idempotent", ({ call: send }) => {
  it("sends the first response again: status, headers and bytes", async () => {
    await using shop = await openShop("SQLite");
    addRoute(shop);
    const first = await send(shop.app, "POST", "/users", keyed("k1"));
    const second = await send(shop.app, "POST", "/users", keyed("k1"));
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    const { "idempotency-replayed": replayed, ...headers } = second.headers;
    expect([replayed, headers]).toEqual(["true", first.headers]);
    expect(await shop.db.user.count()).toBe(1);
  });
});

describe.each([
  ["SQLite", describe],
  [`PostgreSQL${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`, describeWithCluster],
])("idempotent on %s", (name, describeHere) => {
  describeHere("", () => {
    it("runs once for a key, and creates its table", async () => {
      await using shop = await openShop(name);
      addRoute(shop);
      const first = await call(shop.app, "POST", "/users", keyed("k1"));
      const again = await call(shop.app, "POST", "/users", keyed("k1"));
      const other = await call(shop.app, "POST", "/users", keyed("k2"));
      expect([first, again, other].map((answer) => [answer.status, answer.json, isReplayed(answer)])).toEqual([
        [201, { id: 1 }, null],
        [201, { id: 1 }, "true"],
        [201, { id: 2 }, null],
      ]);
      const [stored] = await shop.rows(`"key", "fingerprint", "status", "headers", "body"`);
      expect(stored).toMatchObject({ status: 201, key: expect.stringMatching(/^[\w-]{43}$/) });
      expect(JSON.stringify(stored)).not.toContain("Bearer");
    });

    it("uses the table of the migration that prisma.md shows", async () => {
      await using shop = await openShop(name);
      addRoute(shop);
      const sql = new RegExp(`^\`\`\`sql ${name.toLowerCase()}\\n([^]*?)^\`\`\``, "m").exec(PAGE)?.[1] ?? "";
      for (const statement of sql.split(";").slice(0, -1)) await raw(shop.db).$executeRawUnsafe(statement);
      const answers = [
        await call(shop.app, "POST", "/users", keyed("k1")),
        await call(shop.app, "POST", "/users", keyed("k1")),
      ];
      expect(answers.map(isReplayed)).toEqual([null, "true"]);
      await expect(raw(shop.db).$executeRawUnsafe(sql.split(";")[0] ?? "")).rejects.toThrow("already exists");
    });

    it("creates the table once for many at the same time, and other processes find it", async () => {
      await using shop = await openShop(name);
      addRoute(shop);
      const keys = Array.from({ length: 8 }, (_, index) => `k${index}`);
      const answers = await Promise.all(keys.map((key) => call(shop.app, "POST", "/users", keyed(key, { name: key }))));
      expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 201));
      expect(await shop.rows(`count(*) AS "count"`)).toMatchObject([{ count: expect.anything() }]);
      await using later = await openClient(shop.url).then((db) => ({
        db,
        [Symbol.asyncDispose]: () => db.$disconnect(),
      }));
      const app = new App();
      const transaction = transactionOf(Depends(async () => later.db, { scope: "app" }));
      app.post(
        "/users",
        { params: { tx: Depends(idempotent(transaction)), user: t.Object({ name: t.String() }) } },
        async () => 1,
      );
      expect(isReplayed(await call(app, "POST", "/users", keyed("k3", { name: "k3" })))).toBe("true");
    });

    anywhere(name)("does not keep headers that middleware adds", async () => {
      await using shop = await openShop(name);
      let count = 0;
      const counting = httpMiddleware(async (_, next) => {
        (await next()).headers.set("x-count", String(++count));
      });
      shop.app.post("/", { params: shop.take(), middleware: [counting] }, async () => "done");
      const answers = [await call(shop.app, "POST", "/", keyed("k")), await call(shop.app, "POST", "/", keyed("k"))];
      expect(answers.map((answer) => [answer.json, answer.headers["x-count"], isReplayed(answer)])).toEqual([
        ["done", "1", null],
        ["done", "2", "true"],
      ]);
    });

    anywhere(name)("responds with 422 to another body, path, query or method", async () => {
      await using shop = await openShop(name);
      addRoute(shop);
      shop.app.put("/users", { params: shop.take() }, async () => 1);
      shop.app.post("/others", { params: shop.take() }, async () => 1);
      await call(shop.app, "POST", "/users", keyed("k1"));
      const answers = [
        await call(shop.app, "POST", "/users", keyed("k1", { name: "bob" })),
        await call(shop.app, "POST", "/users?x=1", keyed("k1")),
        await call(shop.app, "POST", "/others", keyed("k1")),
        await call(shop.app, "PUT", "/users", keyed("k1")),
      ];
      expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422]);
      expect(answers[0]?.json).toEqual({ detail: "This idempotency key was used for another request" });
      expect(await shop.db.user.count()).toBe(1);
    });

    anywhere(name)("keeps the keys of callers apart: by the API keys of the App", async () => {
      await using shop = await openShop(name);
      addRoute(shop);
      shop.app.get("/usage", { params: { key: Depends(new APIKeyHeader({ name: "X-API-Key" })) } }, async () => 1);
      const post = async (key: string) =>
        (await call(shop.app, "POST", "/users", { headers: [["idempotency-key", "k"], ["x-api-key", key]], json: { name: "ada" } })).json; // prettier-ignore
      const answers = [await post("ada"), await post("eve"), await post("ada")];
      expect(answers).toEqual([{ id: 1 }, { id: 2 }, { id: 1 }]);
    });

    anywhere(name)("runs a request whose caller is unknown as if it had no key", async () => {
      await using shop = await openShop(name);
      addRoute(shop);
      const nowhere: ASGIApp = (scope, ...rest) =>
        shop.app(scope.type === "http" ? { ...scope, client: null } : scope, ...rest);
      const post = async () =>
        (await call(nowhere, "POST", "/users", { headers: [["idempotency-key", "k"]], json: { name: "ada" } })).json;
      expect([await post(), await post()]).toEqual([{ id: 1 }, { id: 2 }]);
      expect(shop.log.lines.filter((line) => line.includes("caller is unknown")).length).toBeLessThanOrEqual(1);
    });

    anywhere(name)("keeps the keys of callers apart: by Authorization, cookies, or a function", async () => {
      await using shop = await openShop(name);
      addRoute(shop);
      const own = { ...shop, app: new App() };
      addRoute(own, { key: async (request: Request) => request.header("x-tenant") ?? "" });
      const post = (app: App, headers: [string, string][]) =>
        call(app, "POST", "/users", { headers: [["idempotency-key", "k"], ...headers], json: { name: "ada" } });
      const answers = [
        await post(shop.app, [["authorization", "Bearer ada"]]),
        await post(shop.app, [["authorization", "Bearer eve"]]),
        await post(shop.app, [["cookie", "id=ada"]]),
        await post(shop.app, [["cookie", "id=eve"]]),
        await post(shop.app, []),
        await post(shop.app, [["cookie", "id=eve"]]),
        await post(own.app, [["x-tenant", "a"]]),
        await post(own.app, [
          ["x-tenant", "b"],
          ["authorization", "1"],
        ]),
        await post(own.app, [
          ["x-tenant", "b"],
          ["authorization", "2"],
        ]),
      ];
      expect(answers.map(isReplayed)).toEqual([null, null, null, null, null, "true", null, null, "true"]);
    });

    anywhere(name)(
      "responds with 400 to a key that is empty or longer than 255 characters, before the transaction begins",
      async () => {
        await using shop = await openShop(name);
        addRoute(shop);
        for (const [key, status] of [
          ["", 400],
          ["k".repeat(256), 400],
          ["k".repeat(255), 201],
        ] as const) {
          expect(await call(shop.app, "POST", "/users", keyed(key))).toMatchObject({ status });
        }
        const two = keyed("k1", { name: "ada" }, [["idempotency-key", "k2"]]);
        expect(await call(shop.app, "POST", "/users", two)).toMatchObject({ status: 400 });
        expect(await shop.db.user.count()).toBe(1);
      },
    );

    anywhere(name)("runs as usual without the header, and for safe methods", async () => {
      await using shop = await openShop(name);
      addRoute(shop);
      shop.app.get("/count", { params: shop.take() }, async ({ tx }) => tx.user.count());
      const json = { name: "ada" };
      await call(shop.app, "POST", "/users", { json });
      expect(await call(shop.app, "GET", "/count", keyed("k1", undefined))).toMatchObject({ json: 1 });
      await call(shop.app, "POST", "/users", { json });
      expect(await call(shop.app, "GET", "/count", keyed("k1", undefined))).toMatchObject({ json: 2 });
    });

    anywhere(name)("reads the key from another header, and lists it in the OpenAPI document", async () => {
      await using shop = await openShop(name);
      addRoute(shop, { header: "X-Request-Key" });
      const sent = { headers: [["x-request-key", "k1"]] as const, json: { name: "ada" } };
      const answers = [await call(shop.app, "POST", "/users", sent), await call(shop.app, "POST", "/users", sent)];
      expect(answers.map(isReplayed)).toEqual([null, "true"]);
      const { parameters } = shop.app.openapi().paths["/users"]?.post ?? {};
      expect(parameters).toMatchObject([{ in: "header", name: "x-request-key", required: false }]);
    });

    it("runs again after a request that threw, with any status", async () => {
      await using shop = await openShop(name);
      const errors = [new HTTPException(409), new HTTPException(503), new Error("broken")];
      shop.app.post("/", { params: shop.take() }, async ({ tx }) => {
        await tx.user.create({ data: { name: "ada" } });
        const error = errors.shift();
        if (error) throw error;
        return "done";
      });
      const statuses: unknown[] = [];
      for (let index = 0; index < 5; index++) {
        const answer = await call(shop.app, "POST", "/", keyed("k1"));
        statuses.push([answer.status, isReplayed(answer)]);
      }
      expect(statuses).toEqual([
        [409, null],
        [503, null],
        [500, null],
        [200, null],
        [200, "true"],
      ]);
      expect(await shop.db.user.count()).toBe(1);
    });

    it("keeps a Response that the handler returned, with its status, its cookies and its bytes", async () => {
      await using shop = await openShop(name);
      let runs = 0;
      shop.app.post("/{kind}", { params: shop.take() }, async ({ kind }) => {
        runs += 1;
        if (kind === "file") return new FileResponse(import.meta.filename);
        if (kind === "empty") return new Response(null, { statusCode: 204 });
        const response = new JSONResponse({ runs }, { statusCode: kind === "error" ? 422 : 404 });
        response.setCookie("a", "1");
        response.setCookie("b", "2");
        return response;
      });
      for (const kind of ["conflict", "error", "empty", "file"]) {
        const [first, second] = [
          await call(shop.app, "POST", `/${kind}`, keyed(kind)),
          await call(shop.app, "POST", `/${kind}`, keyed(kind)),
        ];
        const lines = second.headerLines.filter(([header]) => header !== "idempotency-replayed");
        expect({ kind, status: second.status, lines, body: second.body }).toEqual({
          kind,
          status: first.status,
          lines: first.headerLines,
          body: first.body,
        });
      }
      expect(runs).toBe(4);
    });

    anywhere(name)(
      "keeps no status that can change, such as 409 and 500, unless the option keep accepts it",
      async () => {
        await using shop = await openShop(name);
        let runs = 0;
        const add = (prefix: string, keep?: (status: number) => boolean) =>
          shop.app.post(
            `${prefix}/{status}`,
            { params: { ...shop.take({ keep }), status: t.Integer() } },
            async ({ status }) => {
              return new JSONResponse(++runs, { statusCode: status });
            },
          );
        add("/default");
        add("/all", () => true);
        const results: unknown[] = [];
        for (const target of ["/default/409", "/default/500", "/all/409", "/all/500"]) {
          for (let count = 0; count < 2; count++)
            results.push((await call(shop.app, "POST", target, keyed(target))).json);
        }
        expect(results).toEqual([1, 2, 3, 4, 5, 5, 6, 7]);
      },
    );

    it("responds with 409 with Retry-After immediately while the first request is running", async () => {
      await using shop = await openShop(name);
      let arrive = (): void => {};
      const arrived = new Promise<void>((resolve) => (arrive = resolve));
      let goOn = (): void => {};
      const gate = new Promise<void>((resolve) => (goOn = resolve));
      shop.app.post("/", { params: shop.take() }, async ({ tx }) => {
        await tx.user.create({ data: { name: "ada" } });
        arrive();
        await gate;
        return "done";
      });
      const first = call(shop.app, "POST", "/", keyed("k1"));
      await arrived;
      const second = await call(shop.app, "POST", "/", keyed("k1"));
      goOn();
      expect(second).toMatchObject({ status: 409, headers: { "retry-after": "1" } });
      expect((await first).status).toBe(200);
      expect(isReplayed(await call(shop.app, "POST", "/", keyed("k1")))).toBe("true");
    });

    it("runs one of twenty at the same time", async () => {
      await using shop = await openShop(name);
      addRoute(shop);
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => call(shop.app, "POST", "/users", keyed("k1"))),
      );
      const ran = answers.filter((answer) => answer.status === 201 && isReplayed(answer) === null);
      const others = answers.filter((answer) => answer.status !== 409 && isReplayed(answer) === null);
      expect([ran.length, others.length, await shop.db.user.count()]).toEqual([1, 1, 1]);
    });

    anywhere(name)("reads the body before the transaction begins", async () => {
      await using shop = await openShop(name);
      const opened = openedOf(shop.db);
      if (opened === null) throw new TypeError("The client is not open.");
      const begin = jest.spyOn(opened, "begin");
      shop.app.post("/raw", { params: { ...shop.take(), request: Request } }, async ({ request }) => request.text());
      const begun: number[] = [];
      const app: ASGIApp = (scope, receive, send) => {
        const counting = async () => {
          await nextTurn(); // all that does not wait for the body has begun
          await nextTurn();
          begun.push(begin.mock.calls.length);
          return receive();
        };
        return shop.app(scope, counting, send);
      };
      const chunks = ["a", "b", "c"].map((text) => Buffer.from(text));
      expect((await call(app, "POST", "/raw", { headers: [["idempotency-key", "k1"]], chunks })).json).toBe("abc");
      expect(begun.slice(0, 3)).toEqual([0, 0, 0]);
      expect(begin).toHaveBeenCalledTimes(1);
    });

    it("shares the transaction with dependencies, whose work a repetition rolls back", async () => {
      await using shop = await openShop(name);
      const count = withParams({ tx: Depends(shop.transaction) }, async ({ tx }) =>
        tx.user.create({ data: { name: `user ${await tx.user.count()}` } }),
      );
      shop.app.post("/", { params: { ...shop.take(), user: Depends(count) } }, async ({ user }) => user);
      const answers = [await call(shop.app, "POST", "/", keyed("k1")), await call(shop.app, "POST", "/", keyed("k1"))];
      expect(answers.map(({ json }) => json)).toEqual([answers[0]?.json, answers[0]?.json]);
      expect(await shop.db.user.count()).toBe(1);
    });

    it("runs again after ttlSeconds, and expired rows are removed", async () => {
      await using shop = await openShop(name);
      addRoute(shop, { ttlSeconds: 60 });
      await call(shop.app, "POST", "/users", keyed("k1"));
      await raw(shop.db).$executeRawUnsafe(`UPDATE "tsgi_idempotency" SET "expires_at" = 1`);
      const again = await call(shop.app, "POST", "/users", keyed("k1"));
      expect([again.status, isReplayed(again), await shop.db.user.count()]).toEqual([201, null, 2]);
      await raw(shop.db).$executeRawUnsafe(`UPDATE "tsgi_idempotency" SET "expires_at" = 1`);
      const app = new App();
      await using second = await openClient(shop.url).then((db) => ({
        db,
        [Symbol.asyncDispose]: () => db.$disconnect(),
      }));
      const transaction = transactionOf(Depends(async () => second.db, { scope: "app" }));
      app.post("/", { params: { tx: Depends(idempotent(transaction)) } }, async () => 1);
      await call(app, "POST", "/", keyed("k2"));
      expect(await shop.rows(`"expires_at" > 1 AS "fresh"`)).toHaveLength(1);
    });

    anywhere(name)(
      "compares the values and files of a multipart form, whose boundary is another each time",
      async () => {
        await using shop = await openShop(name);
        shop.app.post("/", { params: { ...shop.take(), file: File() } }, async ({ file }) => file.text());
        const form = (boundary: string, text: string): Sent => ({
          headers: [
            ["idempotency-key", "k1"],
            ["content-type", `multipart/form-data; boundary=${boundary}`],
          ],
          body: Buffer.from(
            `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${text}\r\n--${boundary}--\r\n`,
          ),
        });
        const answers = [
          await call(shop.app, "POST", "/", form("first", "one")),
          await call(shop.app, "POST", "/", form("second", "one")),
          await call(shop.app, "POST", "/", form("third", "two")),
        ];
        expect(answers.map((answer) => [answer.status, isReplayed(answer)])).toEqual([
          [200, null],
          [200, "true"],
          [422, null],
        ]);
      },
    );

    it("fails and rolls back if the response is larger than 1 MiB", async () => {
      await using shop = await openShop(name);
      shop.app.post("/", { params: shop.take() }, async ({ tx }) => {
        await tx.user.create({ data: { name: "ada" } });
        return "x".repeat(1024 * 1024);
      });
      expect(await call(shop.app, "POST", "/", keyed("k1"))).toMatchObject({ status: 500 });
      expect(await shop.db.user.count()).toBe(0);
    });
  });
});

describeWithCluster("idempotent on PostgreSQL, in two processes", () => {
  it.each(["missing", "Upper Case"])("runs in the schema %j, which does not exist yet", async (schema) => {
    const url = new URL(createSchema(cluster.url));
    url.searchParams.set("schema", schema);
    const db = await openClient(url.href, {}, { isMigrated: false });
    const app = new App();
    const transaction = transactionOf(Depends(async () => db, { scope: "app" }));
    let runs = 0;
    app.post("/", { params: { tx: Depends(idempotent(transaction)) } }, async ({ tx }) => {
      await raw(tx).$queryRawUnsafe("SELECT 1");
      return ++runs;
    });
    const answers = [await call(app, "POST", "/", keyed("k")), await call(app, "POST", "/", keyed("k"))];
    await db.$disconnect();
    expect(answers.map((answer) => [answer.status, answer.json, isReplayed(answer)])).toEqual([
      [200, 1, null],
      [200, 1, "true"],
    ]);
  });

  it.each([undefined, "Serializable" as const])(
    "responds with 409 to a key of the other one (isolation: %s)",
    async (isolation) => {
      await using shop = await openShop("PostgreSQL");
      await using other = await openClient(shop.url).then((db) => ({
        db,
        [Symbol.asyncDispose]: () => db.$disconnect(),
      }));
      let arrive = (): void => {};
      const arrived = new Promise<void>((resolve) => (arrive = resolve));
      let goOn = (): void => {};
      const gate = new Promise<void>((resolve) => (goOn = resolve));
      const appOf = (db: typeof shop.db, work: () => Promise<unknown>) => {
        const app = new App();
        const transaction = transactionOf(
          Depends(async () => db, { scope: "app" }),
          { isolation },
        );
        app.post("/", { params: { tx: Depends(idempotent(transaction)) } }, async ({ tx }) => {
          await tx.user.create({ data: { name: "ada" } });
          await work();
          return "done";
        });
        return app;
      };
      const [slow, fast] = [
        appOf(shop.db, async () => {
          arrive();
          await gate;
        }),
        appOf(other.db, async () => 1),
      ];
      const first = call(slow, "POST", "/", keyed("k1"));
      await arrived;
      expect(await call(fast, "POST", "/", keyed("k1"))).toMatchObject({
        status: 409,
        headers: { "retry-after": "1" },
      });
      goOn();
      expect((await first).status).toBe(200);
      expect(isReplayed(await call(fast, "POST", "/", keyed("k1")))).toBe("true");
      expect(await shop.db.user.count()).toBe(1);
    },
  );
});

describe("idempotent", () => {
  const database = Depends(async () => null as never, { scope: "app" });
  const transaction = transactionOf(database);
  it.each<[string, string, () => unknown]>([
    ["a database", "TSGI_NO_REQUEST_TRANSACTION", () => idempotent(database as never)],
    ["a function", "TSGI_NO_REQUEST_TRANSACTION", () => idempotent((async () => 1) as never)],
    ["no time", "TSGI_INVALID_OPTION", () => idempotent(transaction, { ttlSeconds: 0 })],
    ["no header", "TSGI_INVALID_OPTION", () => idempotent(transaction, { header: "a b" })],
    ["a misspelt option", "TSGI_UNKNOWN_OPTION", () => idempotent(transaction, { ttl: 1 } as never)],
    ["another scope", "TSGI_TRANSACTIONAL_DEPENDENCY", () => Depends(idempotent(transaction), { scope: "function" })],
  ])("is rejected with %s (%s)", (_, code, use) => {
    let thrown: unknown;
    try {
      use();
    } catch (error) {
      thrown = error;
    }
    expect((thrown as ConfigurationError).code).toBe(code);
  });
});
