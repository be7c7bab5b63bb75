import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import { ITEMS_APP, type Outcome, Project } from "./_project.js";

/** The built framework, by its file. */
const FRAMEWORK = path.resolve(import.meta.dirname, "../../core/dist/index.js");

/** An application of these lines. */
const app = (...lines: string[]) =>
  [
    'import { App, Depends, Query, Request, t, withParams } from "tsgi";',
    "export const app = new App();",
    ...lines,
  ].join("\n");

const inOrder = app('app.get("/users/{id}", async ({ id }) => id);');

interface Examined {
  readonly code: number | null;
  readonly lines: string[];
}

/** The output of the doctor for a project, a line for each finding. */
async function examine(files: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv = {}): Promise<Examined> {
  await using project = await Project.create(files);
  return readFindings(await project.runWith(env, "doctor"));
}

/** The same for what concerns the whole process: the settings that it has read, its servers, and `tsx`. */
async function examineByProcess(
  files: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv = {},
): Promise<Examined> {
  await using project = await Project.create(files);
  return readFindings(await project.start(["doctor"], env).ended);
}

function readFindings({ code, stdout, stderr }: Outcome): Examined {
  expect(stderr).toBe("");
  return { code, lines: stdout.trimEnd().split("\n") };
}

/** Those that ask for a change. */
const complaints = (lines: readonly string[]) => lines.filter((line) => /^[!✗]/.test(line));

describe("tsgi doctor", () => {
  it("reports no problems for a correct project", async () => {
    const { code, lines } = await examineByProcess({
      "app.ts": ITEMS_APP.replace("function sum", "async function sum"),
    });
    expect(lines).toEqual([
      expect.stringMatching(/^✓ Node +\d+\.\d+/),
      expect.stringMatching(/^✓ loop +/),
      expect.stringMatching(/^✓ TypeScript +run by tsx/),
      expect.stringMatching(/^✓ application +app\.ts: 3 routes$/),
      expect.stringMatching(/^✓ OpenAPI +/),
    ]);
    expect(code).toBe(0);
  });

  it("counts one route in the singular, and does not mention TypeScript if the project does not use it", async () => {
    const { lines } = await examine({ "app.js": inOrder });
    expect(lines).toContainEqual(expect.stringMatching(/^✓ application +app\.js: 1 route$/));
    expect(lines.join("\n")).not.toContain("TypeScript");
  });
});

describe("tsgi doctor, of the application", () => {
  it.each<[what: string, source: string, found: RegExp]>([
    ["that does not load", 'throw new Error("no database");', /✗ application +Error: no database/],
    ["under another name", inOrder.replaceAll("app", "api"), /✗ application .*exports no application/],
    [
      "that has no document",
      app('app.get("/a", { operationId: "x" }, async () => 1);', 'app.get("/b", { operationId: "x" }, async () => 2);'),
      /✗ OpenAPI +ConfigurationError/,
    ],
  ])("points at one %s, and exits 1", async (_what, source, found) => {
    const { code, lines } = await examine({ "app.js": source });
    expect(lines.join("\n")).toMatch(found);
    expect(code).toBe(1);
  });

  it.each<[method: string, line: string, way: string]>([
    ["use", "app.use(async () => {});", "app.addMiddleware(…), app.includeRouter(router) or app.mount(path, app)"],
    ["listen", "app.listen(8000);", "serve(app) of tsgi/node, or tsgi run"],
    ["include_router", "app.include_router(1);", "app.includeRouter(router)"],
  ])("reports the equivalent of another framework's %s()", async (method, line, way) => {
    const { lines } = await examine({ "app.js": app(line) });
    expect(complaints(lines).at(-1)).toBe(`! application  An App of tsgi has no ${method}(). Write ${way}.`);
  });

  it.each<[what: string, path: string, options: string, reason: string]>([
    ["the address of tokens", "/login", "", "returns the tokens of OAuth2PasswordBearer"],
    [
      "a form of a password",
      "/a",
      "params: { form: Depends(OAuth2PasswordRequestForm) },",
      'takes a secret, "password"',
    ],
    [
      "a secret by its name",
      "/a",
      "params: { body: t.Object({ new_password: t.String() }) },",
      'takes a secret, "new_password"',
    ],
    [
      "a secret by its format",
      "/a",
      'params: { code: Query(t.String({ format: "password" })) },',
      'takes a secret, "code"',
    ],
    ["a token", "/a", "returns: t.Object({ access_token: t.String() }),", 'gives a credential, "access_token"'],
    ["a cookie", "/a", 'responses: { 200: { headers: { "Set-Cookie": {} } } },', "sets a cookie"],
  ])("rejects to offer agents %s", async (_what, route, options, reason) => {
    const source = app(
      'import { OAuth2PasswordBearer, OAuth2PasswordRequestForm } from "tsgi/security";',
      'const oauth2 = new OAuth2PasswordBearer({ tokenUrl: "/login" });',
      'app.get("/me", { params: { token: Depends(oauth2) }, mcp: true }, async () => ({ name: "me" }));',
      `app.post("${route}", { ${options} mcp: true }, async () => ({ access_token: "" }));`,
    );
    const { code, lines } = await examine({ "app.js": source });
    const text = `POST ${route} is offered as a tool, and ${reason}. Take away the option mcp.`;
    expect(complaints(lines)).toEqual([`✗ agents       ${text}`]);
    expect(code).toBe(1);
  });

  it("counts the routes that it offers", async () => {
    const source = app('app.get("/a", { mcp: true }, async () => 1);', 'app.get("/b", async () => 1);');
    const { code, lines } = await examine({ "app.js": source });
    expect(lines).toContainEqual(expect.stringMatching(/^✓ agents +1 of the routes is a tool$/));
    expect(code).toBe(0);
  });

  it("reports that it starts a server when it is imported", async () => {
    const source = `${inOrder}\nimport { createServer } from "node:net"; createServer().listen(0, "127.0.0.1");`;
    const { lines } = await examineByProcess({ "app.js": source });
    expect(complaints(lines)).toEqual([expect.stringMatching(/application +the module starts a server .*serve\(\)/)]);
  });

  it("does not let `debug` into production", async () => {
    const source = inOrder.replace("new App()", "new App({ debug: true })");
    expect(complaints((await examine({ "app.js": source })).lines)).toEqual([]);
    const { code, lines } = await examine({ "app.js": source }, { NODE_ENV: "production" });
    expect(complaints(lines)).toEqual([expect.stringMatching(/^✗ debug +is on, with NODE_ENV=production/)]);
    expect(code).toBe(1);
  });

  it("sees that the application has another copy of the framework than the command", async () => {
    const files = {
      "src/app.js": inOrder.replace('"tsgi"', JSON.stringify(FRAMEWORK)),
      "src/node_modules/tsgi/package.json": '{ "name": "tsgi", "version": "9.9.9" }',
    };
    const { lines } = await examine(files);
    expect(complaints(lines)).toEqual([
      expect.stringMatching(/^! packages +the application uses tsgi 9\.9\.9 of .*src\/node_modules\/tsgi,/),
    ]);
  });
});

describe("tsgi doctor, of routes", () => {
  it.each<[what: string, line: string, found: string]>([
    [
      "a parameter in Express's form",
      'app.get("/users/:id/posts", async () => 1);',
      'GET /users/:id/posts: ":id" is plain text here. Write "{id}".',
    ],
    [
      "a parameter in Express's form with a pattern",
      String.raw`app.get("/users/:id(\\d+)", async () => 1);`,
      String.raw`GET /users/:id(\d+): ":id(\\d+)" is plain text here. Write "{id}".`,
    ],
    [
      "a parameter in Flask's form",
      'app.get("/users/<int:id>", async () => 1);',
      'GET /users/<int:id>: "<int:id>" is plain text here. Write "{id}".',
    ],
    [
      "a parameter in Next.js's form",
      'app.get("/users/[id]", async () => 1);',
      'GET /users/[id]: "[id]" is plain text here. Write "{id}".',
    ],
    [
      "a parameter whose name the pattern writes in another way",
      'app.get("/users/{user_id}", { params: { userId: t.Integer() } }, async ({ userId }) => userId);',
      'GET /users/{user_id}: "userId" is read from the query, since the path has {user_id}. Write one name.',
    ],
    [
      "a query in a path",
      'app.get("/users?page", async () => 1);',
      "GET /users?page: the query, after a ?, is not part of a path. Declare its names in params.",
    ],
    [
      "a handler of request and response",
      'app.get("/users/{id}", async (req, res) => res.json({}));',
      "GET /users/{id}: the handler takes 2 arguments and is given one, an object of its parameters by name: async ({ item_id }) => …, which returns the response.",
    ],
    [
      "a handler with `next`",
      'app.post("/users", async (req, res, next) => next());',
      "POST /users: the handler takes 3 arguments and is given one, an object of its parameters by name: async ({ item_id }) => …, which returns the response.",
    ],
    [
      "a WebSocket's handler with the request",
      'app.websocket("/chat", async (ws, req) => {});',
      "WEBSOCKET /chat: the handler takes 2 arguments and is given one, an object of its parameters by name: async ({ ws }) => ….",
    ],
    [
      "a handler of a request that is not declared",
      'app.get("/me", async (request) => request.headers);',
      "GET /me: the handler has an argument, but the route has no parameters, so the argument is an empty object. Declare what the handler needs, for example { params: { request: Request } }, with Request of tsgi.",
    ],
    [
      "a dependency with `next`",
      "app.get('/me', { dependencies: [Depends(async function login(req, res, next) {})] }, async () => 1);",
      "GET /me: the dependency login takes 3 arguments and is given one, an object of its parameters by name.",
    ],
    [
      "a body with GET",
      'app.get("/search", { params: { filter: t.Object({ name: t.String() }) } }, async ({ filter }) => filter);',
      'GET /search: "filter" is read from a body, which clients do not send with GET. Write Query(schema), or take another method.',
    ],
  ])("finds %s", async (_what, line, found) => {
    const { code, lines } = await examine({ "app.js": app(line) });
    expect(complaints(lines)).toEqual([`! routes       ${found}`]);
    expect(code).toBe(0);
  });

  it("does not report correct code", async () => {
    const source = app(
      "const login = withParams({ request: Request }, async ({ request }) => request.method);",
      'app.get("/users/{id}/:", async ({ id }) => id);',
      'app.get("/search", { params: { filter: Query(t.Object({ name: t.String() })) } }, async ({ filter }) => filter);',
      'app.post("/search", { params: { filter: t.Object({ name: t.String() }) } }, async ({ filter }) => filter);',
      'app.get("/me", { params: { user: Depends(login) } }, async ({ user }) => user);',
      'app.get("/time", async () => 1);',
      'app.websocket("/chat", async ({ ws }) => { await ws.accept(); });',
    );
    expect(complaints((await examine({ "app.js": source })).lines)).toEqual([]);
  });

  it("names three routes with the same habit, and how many more there are", async () => {
    const routes = [1, 2, 3, 4, 5].map((n) => `app.get("/${n}", async (req, res) => 1);`);
    const { lines } = await examine({ "app.js": app(...routes) });
    expect(complaints(lines)).toEqual([
      expect.stringContaining("GET /1, GET /2, GET /3 and 2 more: the handler takes 2 arguments"),
    ]);
  });

  it.each<[kind: string, found: string[]]>([
    ["process", ["! pool         plain handlers, which run in a pool of processes: GET /sum."]],
    ["thread", ["! pool         plain handlers, which run in a pool of threads: GET /sum."]],
    ["inline", []],
  ])("lists the non-async handlers that run in a pool, with the kind %s", async (kind, found) => {
    const source = app('app.get("/sum", () => 1);', 'app.get("/two", { pool: false }, () => 2);');
    const { lines } = await examine({ "app.js": source.replace("App()", `App({ pool: { kind: "${kind}" } })`) });
    expect(complaints(lines)).toEqual(found.map((text) => expect.stringContaining(text)));
  });

  it("reports a module that workers of the pool cannot use", async () => {
    const named = app('app.get("/sum", () => 1);').replace(
      "App()",
      'App({ entry: new URL("absent.js", import.meta.url) })',
    );
    const { code, lines } = await examineByProcess({ "app.js": named });
    expect(complaints(lines)).toContainEqual(expect.stringMatching(/pool .*GET \/sum .*absent\.js cannot be imported/));
    expect(code).toBe(1);
  });
});

describe("tsgi doctor, of the project", () => {
  it.each<[what: string, files: Record<string, string>, found: RegExp]>([
    ["CommonJS", { "package.json": "{}", "app.mjs": inOrder }, /! modules .*"type": "module"/],
    ["vague types", { "tsconfig.json": '{\n  // "strict": true\n}', "app.js": inOrder }, /! tsconfig .*"strict": true/],
    [
      "a target without async functions",
      { "tsconfig.json": '{ "compilerOptions": { "strict": true, "target": "ES2016" } }', "app.js": inOrder },
      /! tsconfig +"target": "ES2016" compiles async functions to other ones/,
    ],
    [
      "the framework among development's packages",
      { "package.json": '{ "type": "module", "devDependencies": { "tsgi": "1" } }', "app.js": inOrder },
      /! packages +tsgi is in devDependencies/,
    ],
    [
      "tsx among development's packages where production needs it",
      {
        "package.json":
          '{ "type": "module", "scripts": { "start": "tsgi run src/app.ts" }, "devDependencies": { "tsx": "4" } }',
        "app.js": inOrder,
      },
      /! packages +npm start runs TypeScript through tsx/,
    ],
  ])("finds %s", async (_what, files, found) => {
    const { lines } = await examine(files);
    expect(complaints(lines)).toEqual([expect.stringMatching(found)]);
  });

  it.each<[what: string, env: NodeJS.ProcessEnv, found: RegExp, code: number]>([
    [
      "a NODE_ENV that nobody asks for",
      { NODE_ENV: "prod" },
      /^! environment +NODE_ENV is "prod"; .* exactly "production"/,
      0,
    ],
    ["a NODE_ENV with a space", { NODE_ENV: "production " }, /^! environment +NODE_ENV is "production "/, 0],
    [
      "a key that documentation shows",
      { SECRET_KEY: "please-change-me-please-change-me" },
      /^! environment +SECRET_KEY is one that documentation shows/,
      0,
    ],
    ["a short key", { JWT_SECRET: "secret" }, /^! environment +JWT_SECRET has 6 bytes, fewer than 32/, 0],
    [
      "a short key in production",
      { SESSION_SECRET: "secret", NODE_ENV: "production" },
      /^✗ environment +SESSION_SECRET has 6 bytes/,
      1,
    ],
  ])("finds %s", async (_what, env, found, expected) => {
    const { code, lines } = await examine({ "app.js": inOrder }, env);
    expect(complaints(lines)).toEqual([expect.stringMatching(found)]);
    expect(code).toBe(expected);
  });

  it("reads .env, which does not override variables that are set", async () => {
    const files = { "app.js": inOrder, ".env": "SECRET_KEY=changeme\nJWT_SECRET=short\n" };
    const { lines } = await examine(files, { JWT_SECRET: "0123456789abcdef".repeat(3) });
    expect(complaints(lines)).toEqual([expect.stringMatching(/SECRET_KEY is one that documentation shows/)]);
    expect(lines).toContainEqual(expect.stringMatching(/^✓ environment +with \.env, /));
  });

  it("reads only the files that flags name, if there are any", async () => {
    await using project = await Project.create({ "app.js": inOrder, ".env": "SECRET_KEY=short\n", other: "" });
    const { stdout } = await project.run("doctor", "--env-file", "other");
    expect(stdout).not.toContain("environment");
  });

  it("prints no key", async () => {
    const { lines } = await examine({ "app.js": inOrder }, { SECRET_KEY: "hunter2" });
    expect(lines.join("\n")).not.toContain("hunter2");
  });
});

describe("tsgi doctor, of the settings", () => {
  it.each(["() => read()", "async () => read()"])(
    "lists those that a dependency of scope app reads: %s",
    async (reader) => {
      const source = `import { App, Depends, t, withParams } from "tsgi";
      import { loadSettings } from "tsgi/settings";
      const read = () => loadSettings(t.Object({ databaseUrl: t.String() }));
      const settings = Depends(${reader}, { scope: "app" });
      const database = Depends(withParams({ settings }, async function* () { throw new Error("not called"); }), { scope: "app" });
      export const app = new App();
      app.get("/", { params: { database } }, async () => null);`;
      await using project = await Project.create({ "app.js": source });
      const { code, stdout } = await project.spawn("doctor");
      expect(stdout).toMatch(/^✗ settings +missing: DATABASE_URL$/m);
      expect(stdout).not.toContain("not called");
      expect(code).toBe(1);
    },
  );

  const source = (secretKey: string) => `import { App, t } from "tsgi";
import { loadSettings, secret } from "tsgi/settings";
loadSettings(t.Object({
  port: t.Integer({ default: 8000 }),
  databaseUrl: t.String({ default: "postgres://ada:hunter2@localhost/shop" }),
  host: t.String(),
  databasePoolSize: t.Integer({ default: 10 }),
  ${secretKey}: secret(t.String()),
}));
export const app = new App();`;

  it("lists which are set and which have their default, without values of secrets", async () => {
    const { lines, code } = await examineByProcess(
      { "app.js": source("secretKey") },
      { HOST: "::1", DATABASE_POOL_SIZE: "20", SECRET_KEY: "hunter2".repeat(9) },
    );
    expect(lines.filter((line) => line.includes("settings"))).toEqual([
      expect.stringMatching(/^✓ settings +set: HOST, DATABASE_POOL_SIZE \(20\), SECRET_KEY$/),
      expect.stringMatching(/^✓ settings +default: PORT \(8000\), DATABASE_URL$/),
    ]);
    expect(lines.join("\n")).not.toContain("hunter2");
    expect(code).toBe(0);
  });

  it.each<[mode: string, mark: string, code: number]>([
    ["development", "!", 0],
    ["production", "✗", 1],
  ])("finds a key that has its default, in %s", async (mode, mark, expected) => {
    const text = `import { App, t } from "tsgi";
import { loadSettings, secret } from "tsgi/settings";
loadSettings(t.Object({ secretKey: secret(t.String({ default: "insecure-development-key-do-not-deploy" })) }));
export const app = new App();`;
    const { lines, code } = await examineByProcess({ "app.js": text }, { NODE_ENV: mode });
    expect(complaints(lines)).toEqual([expect.stringMatching(`^${mark} settings +SECRET_KEY has its default: `)]);
    expect(lines.join("\n")).not.toContain("default: SECRET_KEY");
    expect(code).toBe(expected);
  });

  it("lists which are missing or invalid, even if the application cannot be loaded because of it", async () => {
    const { lines, code } = await examineByProcess({ "app.js": source("signer") }, { PORT: "hunter2hunter2" });
    expect(lines).toContainEqual(expect.stringMatching(/^✗ settings +missing: HOST, SIGNER$/));
    expect(lines).toContainEqual(expect.stringMatching(/^✗ settings +invalid: PORT$/));
    expect(code).toBe(1);
  });
});
