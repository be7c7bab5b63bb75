import { readdirSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { calls, callsWithModels } from "./generated-calls.js";
import { createTsgi } from "./in-process.js";
import { scaffold, scaffoldWithPackages, type Scaffolded } from "./scaffolded.js";
import { packageRoot, type Result, spawnTsgi, temporaryFolder } from "./support.js";

jest.setTimeout(900_000);

const slowly = process.env["TSGI_SLOW"] ? it : it.skip;

// `projects.test.ts` compiles, formats and lints their code in all projects at once, and runs a part of its tests.
describe.each(["minimal", "api"] as const)("in a project of the template %s (only with TSGI_SLOW=1)", (template) => {
  slowly("the sub-generators keep its checks passing, and change no files the second time", async () => {
    await using project = await scaffoldWithPackages(template);
    const all = calls;
    const done = all.map((call) => [call, expect.objectContaining({ status: 0, stderr: "" })]);
    expect((await project.createInOrder(all)).map((result, index) => [all[index], result])).toEqual(done);
    const once = await project.files();
    expect((await project.createInOrder(all)).map((result, index) => [all[index], result])).toEqual(done);
    expect(Object.fromEntries(await project.files())).toEqual(Object.fromEntries(once));

    expect(await project.check()).toMatchObject({ status: 0, stderr: "" });
    const { status, stderr } = await project.test();
    expect({ status, failed: /^ +● .*$/m.exec(stderr)?.[0] }).toEqual({ status: 0, failed: undefined });
    expect(await project.tool("tsc", "-b")).toMatchObject({ status: 0 });
    const load = await project.tool("node", "load-tests/run.js", "--seconds", "0.1", "--connections", "2");
    expect(load).toMatchObject({ status: 0 });
  });
});

describe("in a project of the template auth", () => {
  slowly(
    "the sub-generators keep its checks passing, a model with its table, routes and test among them (only with TSGI_SLOW=1)",
    async () => {
      await using project = await scaffoldWithPackages("auth");
      const before = await project.files();
      const done = callsWithModels.map((call) => [call, expect.objectContaining({ status: 0, stderr: "" })]);
      const createAll = async () =>
        (await project.createInOrder(callsWithModels)).map((result, index) => [callsWithModels[index], result]);
      expect(await createAll()).toEqual(done);
      const once = await project.files();
      expect(await createAll()).toEqual(done);
      expect(Object.fromEntries(await project.files())).toEqual(Object.fromEntries(once));

      const check = await project.check();
      expect(check).toEqual({ status: 0, stderr: "", stdout: check.stdout });
      // The project's own check, by Prisma's engine: the migrations make the tables that the schema describes.
      const drift = await project.tool("env", "DATABASE_URL=file:./drift.db", "node", "scripts/check-migrations.js");
      expect(drift).toMatchObject({ status: 0, stdout: expect.stringContaining("agree") });
      expect([...once.keys()].filter((path) => path.startsWith("src/middleware"))).toEqual(["src/middleware.ts"]);
      const written = [...once.keys()].filter((path) => path.endsWith(".test.ts") && !before.has(path));
      const ofRoutes = written.filter((path) => !/tenant|locale|timing/.test(path));
      expect(ofRoutes.filter((path) => !path.startsWith("test/routes/"))).toEqual([]);
      const { status, stderr } = await project.test("test/app.test.ts", ...written);
      expect({ status, failed: /^ +● .*$/m.exec(stderr)?.[0] }).toEqual({ status: 0, failed: undefined });
    },
  );

  it("a model reports that its router has no routes yet", async () => {
    await using project = await scaffold("auth");
    await project.create("router", "orders");
    const { status, stdout } = await project.create("model", "Order", "total:Float");
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^src\/routes\/orders\.ts was there before and stays as it is: it has no routes for Order\. To get them, rename it and test\/routes\/orders\.test\.ts, and run this command again\.$/m,
      ),
    ]);
  });

  it("a model has the same columns in the schema and in the migration of each database, after all earlier ones", async () => {
    await using project = await scaffold("auth");
    await using other = await scaffold("auth", "--database=postgresql");
    const add = async (target: typeof project) => {
      const words = ["model", "Note", "title:String", "dueAt:DateTime?", "slug:String@unique", "--json"];
      const { status, stdout } = await target.create(...words);
      expect(status).toBe(0);
      const { files } = JSON.parse(stdout) as { files: { path: string }[] };
      return files.map(({ path }) => path).find((path) => path.endsWith("migration.sql")) ?? "";
    };
    const [sqlite, postgresql] = [await add(project), await add(other)];
    expect(await readFile(join(project.path, sqlite), "utf8")).toBe(`-- CreateTable
CREATE TABLE "notes" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "owner_id" INTEGER NOT NULL,
    "title" TEXT NOT NULL,
    "due_at" DATETIME,
    "slug" TEXT NOT NULL,
    CONSTRAINT "notes_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateIndex
CREATE INDEX "notes_owner_id_idx" ON "notes"("owner_id");

-- CreateIndex
CREATE UNIQUE INDEX "notes_owner_id_slug_key" ON "notes"("owner_id", "slug");
`);
    expect(await readFile(join(other.path, postgresql), "utf8")).toBe(`-- CreateTable
CREATE TABLE "notes" (
    "id" SERIAL NOT NULL,
    "owner_id" INTEGER NOT NULL,
    "title" TEXT NOT NULL,
    "due_at" TIMESTAMP(3),
    "slug" TEXT NOT NULL,

    CONSTRAINT "notes_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "notes_owner_id_idx" ON "notes"("owner_id");

-- CreateIndex
CREATE UNIQUE INDEX "notes_owner_id_slug_key" ON "notes"("owner_id", "slug");

-- AddForeignKey
ALTER TABLE "notes" ADD CONSTRAINT "notes_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
`);
    const all = readdirSync(join(project.path, "prisma/migrations")).filter((entry) => /^\d/.test(entry));
    expect(all.toSorted().at(-1)).toBe(sqlite.split("/")[2]);
    const schema = await readFile(join(project.path, "prisma/schema.prisma"), "utf8");
    expect(schema).toContain(`model Note {
  id      Int       @id @default(autoincrement())
  ownerId Int       @map("owner_id")
  owner   User      @relation(fields: [ownerId], references: [id], onDelete: Cascade)
  title   String
  dueAt   DateTime? @map("due_at")
  slug    String

  @@unique([ownerId, slug])
  @@index([ownerId])
  @@map("notes")
}
`);
    expect(schema).toMatch(/^model User \{\n[^}]*^ {2}notes +Note\[\]$/m);
  });

  it("a route in a router whose routes want the current user wants it too, and its test logs in", async () => {
    await using project = await scaffold("auth");
    await project.create("route", "GET /items/{item_id}/history");
    const files = await project.files();
    expect(files.get("src/routes/items.ts")).toMatch(
      /"\/\{item_id\}\/history",[^]*account: Depends\(getCurrentAccount\)/,
    );
    const test = files.get("test/routes/get-items-item-id-history.test.ts");
    expect(test).toMatch(/const \{ token \} = await app\.login\(\);/);
    expect(test).toContain("createClient<ApiOf<typeof routes>>({ baseUrl: app.url })");
    const made = [
      ...(test ?? "").matchAll(/client\.GET\("\/items\/\{item_id\}\/history", \{([^]*?)\}\)[^]*?status: (\d+)/g),
    ];
    expect(made.map(([, options, status]) => [options?.includes("headers"), status])).toEqual([
      [false, "401"],
      [true, "200"],
    ]);
    await project.create("route", "GET /status");
    expect((await project.files()).get("test/routes/get-status.test.ts")).not.toContain("login");
  });

  it("the routes of a model are described with the right article", async () => {
    await using project = await scaffold("auth");
    await project.create("model", "ApiKey");
    const files = await project.files();
    const routes = files.get("src/routes/api-keys.ts") ?? "";
    const summaries = [...routes.matchAll(/summary: "(.*)"/g)].map(([, summary]) => summary);
    expect(summaries.slice(1)).toEqual([
      "Add an API key",
      "An API key of the user",
      "Change an API key",
      "Remove an API key",
    ]);
    expect(files.get("src/models.ts")).toContain("/** An API key in responses. */");
    expect(files.get("test/routes/api-keys.test.ts")).toContain('"shows an API key only to its user"');
  });

  it("a model rejects the names that its routes use", async () => {
    await using project = await scaffold("auth");
    const names = ["Depends", "Promise", "Query", "Router"];
    const results = await project.createInOrder(names.map((name) => ["model", name]));
    expect(results.map(({ status, stderr }) => [status, stderr])).toEqual(
      names.map(() => [2, expect.stringContaining("is a name that the routes of a model use")]),
    );
  });

  it("a router of several segments has them as its prefix, and its routes find it", async () => {
    await using project = await scaffold("auth");
    await project.create("router", "/v1/userFiles");
    await project.create("route", "GET /v1/user-files/{file_id}/parts");
    const router = (await project.files()).get("src/routes/v1-user-files.ts") ?? "";
    expect(router).toContain(
      'export const v1UserFiles = new Router({ prefix: "/v1/user-files", tags: ["v1-user-files"] });',
    );
    expect(router).toContain('"/{file_id}/parts"');
  });

  it("a model rejects fields without a type, and names that it uses itself", async () => {
    await using project = await scaffold("auth", "--no-docker");
    const fields = ["a:String@uniqe", "owner:String", "ownerId:Int", "other:Nothing"];
    const results = await project.createInOrder(fields.map((field) => ["model", "Note", field]));
    expect(results.map(({ status, stderr }, index) => [fields[index], status, stderr])).toEqual(
      fields.map((field) => [field, 2, expect.stringContaining("is not a field")]),
    );
  });
});

describe("a sub-generator", () => {
  it("formats new code with the formatter of the project", async () => {
    await using project = await scaffoldWithPackages("minimal");
    const words = [
      "route",
      "PUT /an-address-that-is-long/{of_some_length}/as-long-as-a-line/{of_the_code}/that-is-written",
    ];
    expect(await spawnTsgi(words, { cwd: project.path })).toMatchObject({ status: 0, stderr: "" });
    expect(await project.tool("oxfmt", "--check")).toMatchObject({ status: 0 });
  });

  it("writes no files in a dry run, and prints one document with --json", async () => {
    await using project = await scaffold("minimal");
    const before = await project.files();
    const { status, stdout } = await project.create("route", "GET /x", "--dry-run", "--json");
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      folder: project.path,
      dryRun: true,
      files: [
        { path: "src/app.ts", action: "overwrite" },
        { path: "test/get-x.test.ts", action: "create" },
      ],
      notes: [],
    });
    expect(await project.files()).toEqual(before);
  });

  it("writes no route whose pattern differs only in names and slashes: the App would reject it", async () => {
    await using project = await scaffold("minimal");
    await project.create("route", "GET /things/{id}");
    await project.create("websocket", "/rooms/{room}");
    const once = await project.files();
    for (const call of [
      ["route", "GET /things/{thing_id}/"],
      ["websocket", "/rooms/{name}"],
    ]) {
      const { status, stdout } = await project.create(...call);
      expect([status, stdout]).toEqual([0, expect.stringContaining("is in src/app.ts already")]);
    }
    expect(Object.fromEntries(await project.files())).toEqual(Object.fromEntries(once));
    const other = await project.create("websocket", "/rooms/{room}/");
    expect(other).toMatchObject({ status: 0, stdout: expect.stringContaining("src/app.ts") });
    expect(await project.files()).not.toEqual(once);
  });

  it.each([
    [
      "each route of a router",
      "/items/changes",
      "src/routes/items.ts",
      /^items\.websocket\("\/changes", \{ params: \{ account: Depends\(getCurrentAccount\) \} \}, async \(\{ ws \}\) => \{$/m,
    ],
    ["a router", "/notes/changes", "src/routes/notes.ts", /^notes\.websocket\("\/changes", async \(\{ ws \}\) => \{$/m],
  ])("guards a WebSocket like %s that requires a login", async (_title, path, file, expected) => {
    await using project = await scaffold("auth");
    await writeFile(
      join(project.path, "src/routes/notes.ts"),
      [
        'import { Depends, Router } from "tsgi";',
        'import { getCurrentUser } from "../dependencies.js";',
        'export const notes = new Router({ prefix: "/notes", dependencies: [Depends(getCurrentUser)] });',
      ].join("\n"),
    );
    expect(await project.create("websocket", path)).toMatchObject({ status: 0, stderr: "" });
    const files = await project.files();
    expect(files.get(file)).toMatch(expected);
    expect(files.get("src/app.ts")).not.toContain("websocket(");
    const test = [...files].find(([name]) => name.includes("/websocket-"))?.[1];
    expect(test).toContain(`await assert.rejects(app.websocket("${path}"), { statusCode: 401 });`);
    expect(test).toContain(`await app.websocket("${path}", { headers });`);
  });

  it("keeps a file that its user has written", async () => {
    await using project = await scaffold("minimal");
    await writeFile(join(project.path, "test/get-x.test.ts"), "mine");
    await project.create("route", "GET /x");
    expect(await readFile(join(project.path, "test/get-x.test.ts"), "utf8")).toBe("mine");
  });

  it.each([
    ["has the types of the exported route", {}, /createClient<ApiOf<typeof routes>>[^]*client\.GET\("\/x"\)/],
    [
      "is by TestClient without @tsgi/client",
      { "package.json": [/"@tsgi\/client": ".*",/, ""] },
      /client\.get\("\/x"\)/,
    ],
    [
      "is by TestClient for an application that a function makes",
      { "src/app.ts": [/export const (app[^]*)/, "export function createApp() { const $1 return app; }"] },
      /TestClient\.open\(createApp\(\)\)[^]*client\.get\("\/x"\)/,
    ],
  ] as const)("writes a test that %s", async (_title, edits, expected) => {
    await using project = await scaffold("minimal");
    for (const [path, [from, to]] of Object.entries(edits)) {
      const file = join(project.path, path);
      await writeFile(file, (await readFile(file, "utf8")).replace(from, to).replace("export const getItem = ", ""));
    }
    expect(await project.create("route", "GET /x")).toMatchObject({ status: 0, stderr: "" });
    expect((await project.files()).get("test/get-x.test.ts")).toMatch(expected);
  });

  it("writes a route into the file that --in names", async () => {
    await using project = await scaffold("api");
    expect(await project.create("route", "GET /version", "--in", "src/routes/health.ts")).toMatchObject({ status: 0 });
    expect(await readFile(join(project.path, "src/routes/health.ts"), "utf8")).toContain('health.get(\n  "/version",');
    const wrong = await project.create("route", "GET /version/x", "--in", "src/routes/items.ts");
    expect(wrong).toMatchObject({ status: 1, stderr: expect.stringContaining("serves paths below /items") });
    const missing = await project.create("route", "GET /version/x", "--in", "src/nothing.ts");
    expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining("write one of: src/app.ts, ") });
  });

  describe("with invalid arguments", () => {
    const refusals: readonly (readonly [status: number, parameters: readonly string[], message: string])[] = [
      [2, ["route"], 'usage: create-tsgi route "<METHOD> <path>"'],
      [2, ["route", "FETCH /x"], 'write it as "GET /items/{id}"'],
      [2, ["route", "GET x"], "is not a path"],
      [2, ["route", "GET /v{n}"], "is not a path"],
      [2, ["route", "GET /{a}/{a}"], "duplicate"],
      [2, ["route", "GET /{__proto__}"], "invalid parameter name"],
      [2, ["route", 'GET /"+x+"'], "is not a path"],
      [2, ["route", "GET /${x}`"], "is not a path"],
      [2, ["route", "GET /x", "extra", "words"], "unexpected argument"],
      [2, ["route", "GET /x", "--force"], 'unknown flag "--force"'],
      [2, ["router", "../x"], "is not a name"],
      [2, ["router", "v1//files"], '"v1//files" is not a name'],
      [2, ["router", "v1/{id}"], "is not a name"],
      [2, ["dependency", "v1/files"], "is not a name"],
      [2, ["router", "__proto__"], "is not a name"],
      [2, ["router", "class"], "is a reserved word"],
      [2, ["router", "x".repeat(300)], "is not a name"],
      [2, ["router", "t"], "is a reserved word"],
      [2, ["websocket", "rooms"], "is not a path"],
      [2, ["model", "note"], "a model is written as Note"],
      [2, ["model", "Note", "id:Int"], "is not a field"],
      [2, ["model", "Note", "a:Blob"], "String, Int, Float, Boolean, DateTime"],
      [2, ["model", "Note", "a:Int", "a:Int"], "given twice"],
      [
        1,
        ["model", "Note"],
        "a model needs a project with a database (create-tsgi my-app --template api --database sqlite)",
      ],
    ];
    let project: Scaffolded;
    let before: ReadonlyMap<string, string>;
    let results: readonly Result[];

    beforeAll(async () => {
      project = await scaffold("minimal");
      before = await project.files();
      results = await project.createInOrder(refusals.map(([, parameters]) => parameters));
    });

    afterAll(async () => {
      await project[Symbol.asyncDispose]();
    });

    it.each(refusals.map((row, index) => [...row, index] as const))(
      "ends with %d: %j",
      (status, _parameters, message, index) => {
        const result = results[index];
        expect(result?.status).toBe(status);
        expect(result?.stderr).toContain(message);
        expect(result?.stderr).toMatch(/^create-tsgi: .{1,300}\n$/);
      },
    );

    it("does not change any files", async () => {
      expect(Object.fromEntries(await project.files())).toEqual(Object.fromEntries(before));
    });
  });

  it("rejects a folder that is not a project", async () => {
    await using folder = await temporaryFolder();
    const call = () => createTsgi(["router", "orders"], { cwd: folder.path });
    expect(await call()).toMatchObject({ status: 1, stderr: expect.stringContaining("package.json is missing") });
    await writeFile(join(folder.path, "package.json"), "{");
    expect(await call()).toMatchObject({ status: 1, stderr: expect.stringContaining("cannot be read") });
    await writeFile(join(folder.path, "package.json"), "{}");
    expect(await call()).toMatchObject({ status: 1, stderr: expect.stringContaining("does not depend on tsgi") });
    await writeFile(join(folder.path, "package.json"), JSON.stringify({ dependencies: { tsgi: "^0.1.0" } }));
    expect(await call()).toMatchObject({ status: 1, stderr: expect.stringContaining("new App(…)") });
    await mkdir(join(folder.path, "src"));
    await writeFile(join(folder.path, "src/app.ts"), "const app = new App(;\n");
    expect(await call()).toMatchObject({ status: 1, stderr: expect.stringContaining("src/app.ts cannot be read") });
    expect(readdirSync(folder.path).toSorted()).toEqual(["package.json", "src"]);
  });

  it("shows its help", async () => {
    const { status, stdout } = await createTsgi(["route", "--help"], { cwd: packageRoot });
    expect(status).toBe(0);
    expect(stdout).toContain('Usage: create-tsgi route "<METHOD> <path>" [flags]');
  });
});
