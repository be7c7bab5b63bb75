import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Client } from "pg";
import { findPostgreSQL } from "../../../sample-auth-app/test/repository/support/find-postgresql.js";
import { installOnDemand, IS_SLOW } from "../support/on-demand.js";

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, "../../..");
const PAGE = readFileSync(path.join(ROOT, "framework/docs/databases.md"), "utf8");
const PACKAGES = ["kysely@0.28.8", "drizzle-orm@0.45.4"];
const TSX = path.join(ROOT, "node_modules/tsx/dist/cli.mjs");

/** The block of the page with these words after its fence. */
function block(words: string): string {
  return new RegExp(`^\`\`\`${words}\\n([^]*?)^\`\`\`$`, "m").exec(PAGE)?.[1] ?? "";
}

const url = IS_SLOW ? await findPostgreSQL() : null;
const describeWithPostgreSQL = url === null ? describe.skip : describe;

/** The import, and the call that runs the text `statement` in a transaction. */
const RAW: Readonly<Record<string, readonly [imports: string, run: string]>> = {
  kysely: ['import { sql } from "kysely";', "sql.raw(statement).execute(tx)"],
  drizzle: ['import { sql } from "drizzle-orm";', "tx.execute(sql.raw(statement))"],
  prisma: ["", "tx.$executeRawUnsafe(statement)"],
};

/** A route in the transaction of a tenant, by the block of the page; Prisma has `transactionOf`. */
const tenantRoute = (file: string) => {
  const shown = block(`ts ${file} tenant`);
  if (shown === "") return "";
  return `${shown}
app.get("/tenant", { params: { tx: ownTransaction } }, async ({ tx }) => {
  const statement = "select count(*)::int as count, current_setting('app.tenant') as tenant from account";
  return (await ${RAW[file]?.[1] ?? ""}).rows;
});`;
};

/**
 * Serves the application of a file with a route that swallows the error of a statement, and one of a tenant. Prints the
 * address.
 */
const SERVER = (file: string) => `import { Depends, Header, withParams } from "tsgi";
import { serve } from "tsgi/node";
${RAW[file]?.[0] ?? ""}
const { app, transaction } = await import("./${file}.js");
${tenantRoute(file)}
app.post("/swallowed", { params: { tx: transaction } }, async ({ tx }) => {
  const run = (statement) => ${RAW[file]?.[1] ?? ""};
  await run("update account set balance = 99");
  await run("select no_such_column").catch(() => null);
  return "done";
});
const { url } = await serve(app, { port: 0 });
process.stdout.write(url + "\\n");
`;

describeWithPostgreSQL.each(["kysely", "drizzle", "prisma"])(
  "the application of the page on databases, with %s (TSGI_SLOW)",
  (name) => {
    const database = new URL(url ?? "postgresql://localhost/none");
    let server: Client;
    let admin: Client;
    let home: string;
    beforeAll(async () => {
      home = path.join(installOnDemand("databases", PACKAGES), name);
      mkdirSync(home, { recursive: true });
      server = new Client({ connectionString: url ?? "" });
      await server.connect();
      database.pathname = `/tsgi_${name}_${process.pid}`;
      await server.query(`create database ${database.pathname.slice(1)}`);
      admin = new Client({ connectionString: database.href });
      await admin.connect();
      await admin.query("create table account (id serial primary key, name text not null, balance int not null)");
      writeFileSync(path.join(home, "package.json"), '{ "type": "module" }');
      const compilerOptions = { noEmit: true, strict: true, module: "nodenext", target: "es2022", types: ["node"] };
      const tsconfig = { compilerOptions: { ...compilerOptions, skipLibCheck: true }, files: [`${name}.ts`] };
      writeFileSync(path.join(home, "tsconfig.json"), JSON.stringify(tsconfig));
      writeFileSync(path.join(home, `${name}.ts`), block(`ts ${name}`));
      writeFileSync(path.join(home, "server.ts"), SERVER(name));
      if (name === "prisma") {
        writeFileSync(path.join(home, "schema.prisma"), block("prisma"));
        const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath };
        const cli = path.join(ROOT, "node_modules/prisma/build/index.js");
        await run(process.execPath, [cli, "generate", "--schema", "schema.prisma"], { cwd: home, env });
      }
    });
    afterAll(async () => {
      await admin?.end();
      await server?.query(`drop database if exists ${database.pathname.slice(1)}`);
      await server?.end();
    });

    async function start(href = database.href) {
      const child = spawn(process.execPath, [TSX, path.join(home, "server.ts")], {
        cwd: home,
        env: {
          ...process.env,
          NODE_OPTIONS: "",
          DATABASE_URL: href,
          DATABASE_POOL_SIZE: "3",
        },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const exited = once(child, "exit");
      let log = "";
      child.stderr.on("data", (chunk: Buffer) => (log += String(chunk)));
      for await (const chunk of child.stdout) {
        const base = String(chunk).trim();
        const stop = async () => {
          child.kill("SIGTERM");
          return (await exited) as unknown[];
        };
        return { base, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
      }
      throw new Error(log);
    }

    const balances = async () => {
      const { rows } = await admin.query<{ balance: number }>("select balance from account order by id limit 2");
      return rows.map(({ balance }) => balance);
    };

    it("compiles under strict", async () => {
      const tsc = path.join(ROOT, "node_modules/typescript/bin/tsc");
      expect(await run(process.execPath, [tsc, "-p", "."], { cwd: home })).toEqual({ stdout: "", stderr: "" });
    });

    const slowly = name === "prisma" ? it.skip : it;
    slowly("shows each tenant only its own rows", async () => {
      const owner = `tenant_${process.pid}`;
      await admin.query("truncate account restart identity");
      await admin.query("insert into account (name, balance) values ('ada', 1), ('ada', 2), ('bob', 3)");
      await admin.query(`alter table account enable row level security;
        create policy own on account using (name = nullif(current_setting('app.tenant', true), ''));
        create role ${owner} login; grant all on account to ${owner}`);
      const own = new URL(database);
      own.username = owner;
      try {
        await using started = await start(own.href);
        const read = async (tenant: string) => {
          const response = await fetch(`${started.base}/tenant`, { headers: { tenant } });
          return response.json();
        };
        const tenants = ["ada", "bob", "eve", "' or true --", "ada", "bob"];
        const seen = await Promise.all(tenants.map(read));
        const counts: Record<string, number> = { ada: 2, bob: 1 };
        expect(seen).toEqual(tenants.map((tenant) => [{ count: counts[tenant] ?? 0, tenant }]));
        const { items } = (await (await fetch(`${started.base}/accounts`)).json()) as { items: unknown[] };
        expect(items).toEqual([]);
      } finally {
        await admin.query(`drop policy own on account; alter table account disable row level security;
          drop owned by ${owner}; drop role ${owner}`);
      }
    });

    it("commits after the handler, rolls back after an error, paginates, and is ready", async () => {
      await admin.query("truncate account restart identity");
      await admin.query("insert into account (name, balance) values ('ada', 10), ('bob', 0), ('eve', 5)");
      await using started = await start();
      const { base } = started;
      const transfer = async (amount: number) =>
        (await fetch(`${base}/transfers/${amount}`, { method: "POST" })).status;
      expect(await transfer(4)).toBe(200);
      expect(await balances()).toEqual([6, 4]);
      expect(await transfer(7)).toBe(409);
      expect(await balances()).toEqual([6, 4]);
      expect((await fetch(`${base}/swallowed`, { method: "POST" })).status).toBe(500);
      expect(await balances()).toEqual([6, 4]);
      // More at the same time than the pool has connections: each waits for one, and all succeed.
      const statuses = await Promise.all(Array.from({ length: 12 }, () => transfer(1)));
      expect(statuses.toSorted((left, right) => left - right)).toEqual([...Array(6).fill(200), ...Array(6).fill(409)]);
      expect(await balances()).toEqual([0, 10]);
      const names: string[] = [];
      for (let target: string | null = "/accounts?limit=2"; target !== null;) {
        const answer = await fetch(new URL(target, base));
        const { items, next } = (await answer.json()) as { items: { name: string }[]; next: string | null };
        names.push(...items.map((item) => item.name));
        expect(answer.headers.has("link")).toBe(next !== null);
        target = next === null ? null : `/accounts?limit=2&cursor=${next}`;
      }
      expect(names).toEqual(["ada", "bob", "eve"]);
      const ready = await fetch(`${base}/health/ready`);
      expect([ready.status, Object.values(((await ready.json()) as { checks: object }).checks)]).toEqual([200, ["ok"]]);
      expect(await started.stop()).toEqual([0, null]);
    });
  },
);

describe("the page on databases", () => {
  it("has an application for each of the three", () => {
    for (const name of ["kysely", "drizzle", "prisma"]) expect(block(`ts ${name}`)).toContain("export const app");
  });
});
