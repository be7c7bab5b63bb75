import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, jest } from "@jest/globals";
import { emptyDatabase } from "./empty-database.js";
import { createTsgi } from "./in-process.js";
import { scaffold, scaffoldWithPackages, serve } from "./scaffolded.js";
import { packageRoot } from "./support.js";

jest.setTimeout(600_000);

const command = "node_modules/@tsgi/cli/bin/tsgi.js";
const json = { "content-type": "application/json" };

const slowly = process.env["TSGI_SLOW"] ? it : it.skip;

const calls = [
  ["route", "GET", "/orders/{order_id}/lines"],
  ["router", "orders"],
  ["websocket", "/rooms/{room}"],
  ["model", "Project", "title:String@unique", "due:DateTime?"],
  ["model", "Note", "title:String", "body:String?", "count:Int?@unique"],
];

describe.each(["sqlite", "postgresql"] as const)("a project of the template api with --database %s", (database) => {
  /** The project, and the environment for its database; `null` without a server. */
  async function open() {
    const server = database === "postgresql" ? await emptyDatabase() : null;
    if (server?.url === null) {
      console.warn("Skipped: there is no PostgreSQL at 127.0.0.1:5432.");
      return null;
    }
    const project = await scaffoldWithPackages("api", `--database=${database}`);
    const env = { DATABASE_URL: server?.url ?? `file:${project.path}/own.db` };
    const dispose = async () => {
      await project[Symbol.asyncDispose]();
      await server?.[Symbol.asyncDispose]();
    };
    return { project, env, [Symbol.asyncDispose]: dispose };
  }

  it("gets models whose tables have the columns of their fields", async () => {
    await using project = await scaffold("api", `--database=${database}`);
    const done = calls.map(() => expect.objectContaining({ status: 0, stderr: "" }));
    expect(await project.createInOrder(calls)).toEqual(done);
    const schema = await readFile(join(project.path, "prisma/schema.prisma"), "utf8");
    expect(schema).toContain(`model Note {
  id    Int     @id @default(autoincrement())
  title String
  body  String?
  count Int?

  @@unique([count])
  @@map("notes")
}`);
  });

  // `projects.test.ts` compiles, formats and lints these projects with all others, runs the tests of models, and starts them.
  slowly("passes its own checks and tests, including generated code", async () => {
    await using opened = await open();
    if (opened === null) return;
    const { project, env } = opened;
    const done = calls.map(() => expect.objectContaining({ status: 0, stderr: "" }));
    expect(await project.createInOrder(calls)).toEqual(done);
    // The check compiles the tests, which use the typed client.
    const checked = await project.script("check", env);
    expect({ ...checked, stdout: checked.status === 0 ? "" : checked.stdout }).toMatchObject({
      status: 0,
      stdout: "",
    });
    const test = await project.script("test", env);
    expect({ status: test.status, failed: /^ +● [^]*?$/m.exec(test.stderr)?.[0] }).toEqual({ status: 0 });
    expect(test.stderr).toMatch(/^Test Suites: 7 passed, 7 total$/m);
  });

  slowly("is served by tsgi dev, then built, and migrates its database in production", async () => {
    await using opened = await open();
    if (opened === null) return;
    const { project, env } = opened;
    expect(await project.script("build", env)).toMatchObject({
      status: 0,
      stderr: expect.not.stringContaining("rror"),
    });
    const pen = { name: "Pen", price: 1.5 };
    {
      await using dev = await serve([process.execPath, command, "dev"], project.path, env);
      const added = await fetch(`${dev.url}/items`, { method: "POST", headers: json, body: JSON.stringify(pen) });
      expect([added.status, await added.json()]).toEqual([201, { id: 1, ...pen }]);
    }
    await using server = await serve([process.execPath, command, "run", "dist/app.js"], project.path, {
      ...env,
      NODE_ENV: "production",
    });
    const page = { items: [{ id: 1, ...pen }], total: 1, limit: 20, offset: 0 };
    expect(await (await fetch(`${server.url}/items`)).json()).toEqual(page);
    expect((await fetch(`${server.url}/ready`)).status).toBe(200);
    const load = await project.tool("node", "load-tests/run.js", "--seconds", "0.1", "--connections", "2");
    expect({ load, isOwn: existsSync(join(project.path, "own.db")) || database === "postgresql" }).toMatchObject({
      isOwn: true,
    });
  });

  it("has a Dockerfile that carries the migrations, and the packages of this database only", async () => {
    await using project = await scaffold("api", `--database=${database}`);
    const read = (path: string) => readFile(join(project.path, path), "utf8");
    const dockerfile = await read("Dockerfile");
    expect(dockerfile).toContain("COPY --from=build /app/prisma/migrations prisma/migrations\n");
    expect(dockerfile.includes("DATABASE_URL=file:/data/app.db")).toBe(database === "sqlite");
    expect((await read("compose.yaml")).includes("postgres:17")).toBe(database === "postgresql");
    expect(await read("prisma/migrations/migration_lock.toml")).toContain(`provider = "${database}"`);
    expect(existsSync(join(project.path, "src/store.ts"))).toBe(false);
    const { dependencies, "create-tsgi": kept } = JSON.parse(await read("package.json"));
    const own = database === "sqlite" ? ["@prisma/adapter-libsql", "libsql"] : ["@prisma/adapter-pg", "pg"];
    const framework = ["@tsgi/cli", "@tsgi/prisma", "tsgi"];
    expect(Object.keys(dependencies).toSorted()).toEqual([...own, "@prisma/client", ...framework].toSorted());
    expect(kept).toMatchObject({ template: "api", database });
  });
});

describe("--database", () => {
  it("none creates the template api without a database, as if the flag were absent", async () => {
    await using none = await scaffold("api", "--database=none");
    await using missing = await scaffold("api");
    const withoutVersions = async (project: typeof none) => Object.fromEntries(await project.files());
    expect(await withoutVersions(none)).toEqual(await withoutVersions(missing));
    expect(existsSync(join(none.path, "prisma"))).toBe(false);
  });

  it.each([
    [["--template=auth", "--database=none"], "the template auth keeps its users in a database"],
    [["--template=api", "--database=sqlite", "--runtime=bun"], "a project with a database runs on Node"],
  ])("is rejected if it contradicts the rest: %j", async (flags, message) => {
    const { status, stderr } = await createTsgi(["my-app", "--yes", "--dry-run", ...flags], { cwd: packageRoot });
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(message) });
  });
});
