import { connect, type IncomingHttpHeaders } from "node:http2";
import { createServer } from "node:net";
import { availableParallelism } from "node:os";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { ITEMS_APP, Project } from "./_project.js";

/** Starts no pool. */
const ASYNC_APP = ITEMS_APP.replace("function sum", "async function sum");

/** An application that responds with a variable of the environment at its start. */
const GREETING_APP = `import { App } from "tsgi";
const greeting = process.env.GREETING;
export const app = new App();
app.get("/", async () => greeting);`;

describe("tsgi run", () => {
  it("serves a TypeScript module until SIGTERM and exits 0", async () => {
    await using project = await Project.create({ "src/app.ts": ASYNC_APP });
    const command = project.start(["run", "--port", "0"]);
    const [url] = await command.next(/http:\/\/127\.0\.0\.1:\d+/);
    const response = await fetch(`${url}/items/7`);
    expect(await response.json()).toEqual({ item_id: 7, user: "ada" });
    command.child.kill("SIGTERM");
    expect(await command.ended).toMatchObject({ code: 0 });
  });

  it.each([
    ["SIGTERM", []],
    ["SIGINT", []],
    ["SIGTERM", ["--workers", "2"]],
  ] as const)("ends with status 0 on %s while it imports the module: %j", async (signal, flags) => {
    await using project = await Project.create({
      "app.js": 'console.log("imports"); setInterval(() => {}, 1000); await new Promise(() => {});',
    });
    const command = project.start(["run", "--port", "0", ...flags]);
    await command.next(/imports/);
    command.child.kill(signal);
    // Without a listener, the signal would end the process: the status would be `null`.
    expect(await command.ended).toEqual({ code: 0, signal: null, stdout: "imports\n", stderr: "" });
  });

  it("serves the default export, even if it is a callable that is not an App", async () => {
    const source = `export default async (scope, receive, send) => {
      if (scope.type === "lifespan") return;
      await send({ type: "http.response.start", status: 200, headers: [] });
      await send({ type: "http.response.body", body: new TextEncoder().encode(scope.path) });
    };`;
    await using project = await Project.create({ "hello.mjs": source });
    await using server = await project.serve(["run", "hello.mjs"], { PORT: "0" });
    expect(await (await fetch(`${server.url}/hi`)).text()).toBe("/hi");
  });

  it("speaks HTTP/2 with --http2", async () => {
    await using project = await Project.create({ "app.js": GREETING_APP });
    await using server = await project.serve(["run", "--port", "0", "--http2"]);
    const session = connect(server.url);
    const [headers] = (await once(session.request({ ":path": "/" }), "response")) as [IncomingHttpHeaders];
    expect(headers[":status"]).toBe(200);
    session.destroy();
  });

  it("takes variables from a file", async () => {
    await using project = await Project.create({ "app.js": GREETING_APP, ".env": "GREETING=hello" });
    await using server = await project.serve(["run", "--port", "0", "--env-file", ".env"]);
    expect(await (await fetch(server.url)).json()).toBe("hello");
  });

  it("reads missing flags from a file as well", async () => {
    await using project = await Project.create({ "app.js": ASYNC_APP, ".env": "PORT=0\nHOST=127.0.0.2" });
    await using server = await project.serve(["run", "--env-file", ".env"]);
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.2:\d+$/);
    expect(server.url).not.toContain(":8000");
  });

  it("takes variables from a file that may be missing", async () => {
    await using project = await Project.create({ "app.js": GREETING_APP, ".env": "GREETING=hello" });
    const files = ["--env-file-if-exists", "no.env", "--env-file-if-exists", ".env"];
    await using server = await project.serve(["run", "--port", "0", ...files]);
    expect(await (await fetch(server.url)).json()).toBe("hello");
  });

  it("reports a missing file of variables", async () => {
    await using project = await Project.create({ "app.js": ITEMS_APP });
    const { code, stderr } = await project.spawn("run", "--env-file", "no.env");
    // Some versions of Node parse this flag anywhere, and print their own message.
    expect(stderr).toMatch(/no\.env(:| cannot be read:)/);
    expect(code).not.toBe(0);
  });

  it("warns that the module serves as well", async () => {
    const source = `${ASYNC_APP} import { serve } from "tsgi/node"; await serve(app, { port: 0 });`;
    await using project = await Project.create({ "app.js": source });
    const command = project.start(["run", "--port", "0"]);
    const [text] = await command.next(/app\.js starts another server.*/);
    expect(text).toMatch(/another server when it is imported.*put serve\(\) into another file/);
    await command.next(/Listening/);
  });

  it("reports in one line that the port is in use, and exits 1", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    await using project = await Project.create({ "app.js": ITEMS_APP });
    const { code, stderr } = await project.spawn("run", "--port", String(port));
    expect(stderr).toContain(
      `Port ${port} on 127.0.0.1 is in use. Stop the program that has it, or choose another port.`,
    );
    expect(code).toBe(1);
    other.close();
    await once(other, "close");
  });
});

const WHO_APP = `import { App, Request } from "tsgi";
export const app = new App();
app.get("/", { params: { request: Request } }, async ({ request }) => [request.client.host, request.scheme]);
`;

describe("tsgi run behind proxies", () => {
  const forwarded = { "x-forwarded-for": "198.51.100.7, 10.1.2.3", "x-forwarded-proto": "https" };

  it.each<[how: string, args: string[], env: NodeJS.ProcessEnv, client: string]>([
    ["believes nobody of its own accord", [], {}, "127.0.0.1"],
    ["believes those that --trusted-proxies lists", ["--trusted-proxies", "loopback, 10.0.0.0/8"], {}, "198.51.100.7"],
    ["adds up the flags", ["--trusted-proxies", "loopback", "--trusted-proxies=10.1.2.3"], {}, "198.51.100.7"],
    ["believes those of TRUSTED_PROXIES", [], { TRUSTED_PROXIES: "127.0.0.1,10.0.0.0/8" }, "198.51.100.7"],
    ["prefers the flag", ["--trusted-proxies", "loopback"], { TRUSTED_PROXIES: "loopback,private" }, "10.1.2.3"],
    ["believes nobody where the list is empty", [], { TRUSTED_PROXIES: "" }, "127.0.0.1"],
  ])("%s", async (_how, args, env, client) => {
    await using project = await Project.create({ "app.js": WHO_APP });
    await using server = await project.serve(["run", "--port", "0", ...args], env);
    const scheme = client === "127.0.0.1" ? "http" : "https";
    expect(await (await fetch(server.url, { headers: forwarded })).json()).toEqual([client, scheme]);
  });

  it.each<[how: string, args: string[], env: NodeJS.ProcessEnv, client: string]>([
    ["--client-address-header", ["--client-address-header", "Fly-Client-IP"], {}, "203.0.113.7"],
    ["CLIENT_ADDRESS_HEADER", [], { CLIENT_ADDRESS_HEADER: "Fly-Client-IP" }, "203.0.113.7"],
    ["X-Forwarded-For if CLIENT_ADDRESS_HEADER is empty", [], { CLIENT_ADDRESS_HEADER: "" }, "10.1.2.3"],
  ])("reads the client's address from %s", async (_how, args, env, client) => {
    await using project = await Project.create({ "app.js": WHO_APP });
    await using server = await project.serve(["run", "--port", "0", "--trusted-proxies", "loopback", ...args], env);
    const headers = { ...forwarded, "fly-client-ip": "203.0.113.7" };
    expect(await (await fetch(server.url, { headers })).json()).toEqual([client, "https"]);
  });

  it("reports a header that any client could send, and exits 2", async () => {
    await using project = await Project.create({ "app.js": WHO_APP });
    const { code, stderr } = await project.run("run", "--port", "0", "--client-address-header", "Fly-Client-IP");
    expect(stderr).toContain("clientAddressHeader: Fly-Client-IP is read from trusted proxies only.");
    expect(code).toBe(2);
  });

  it.each(["1", "2"])("reports invalid proxies once with %s workers, and exits 2", async (workers) => {
    await using project = await Project.create({ "app.js": WHO_APP });
    const args = ["run", "--port", "0", "--workers", workers, "--trusted-proxies", "loopback,proxy.example.com"];
    const { code, stderr } = await project.spawn(...args);
    expect(stderr).toBe(
      'trustedProxies: expected addresses, networks such as "10.0.0.0/8", "loopback", "private" or "unix", not "proxy.example.com".\n' +
        "Read more: tsgi explain TSGI_INVALID_TRUSTED_PROXY\n",
    );
    expect(code).toBe(2);
  });
});

describe("tsgi run with non-async handlers and workers", () => {
  const source = `import { App } from "tsgi";
    export const app = new App({ pool: { kind: "thread" } });
    app.get("/plain", () => 1);
    app.get("/size", async () => app.poolStats.size);`;

  const cores = availableParallelism();
  /** More than the processors, unless there are so many that starting them would take long. */
  const many = Math.min(cores + 1, 9);

  it.each([1, 2, many])("with %i splits the processors between them, with at least one each", async (workers) => {
    await using project = await Project.create({ "app.js": source });
    const command = project.start(["run", "--port", "0", "--workers", String(workers)]);
    const [url] = await command.next(/http:\/\/127\.0\.0\.1:\d+/);
    expect(await (await fetch(`${url}/size`)).json()).toBe(Math.max(1, Math.floor(cores / workers)));
  });

  it("leaves a size that is set as it is", async () => {
    const size = Math.floor(cores / 2) + 1; // not a half of the processors
    await using project = await Project.create({ "app.js": source.replace('"thread"', `"thread", size: ${size}`) });
    const command = project.start(["run", "--port", "0", "--workers", "2"]);
    const [url] = await command.next(/http:\/\/127\.0\.0\.1:\d+/);
    expect(await (await fetch(`${url}/size`)).json()).toBe(size);
  });
});

describe("tsgi run with non-async handlers", () => {
  const files = {
    "app.ts": `import { threadId } from "node:worker_threads";
      import { App } from "tsgi";
      import { green } from "./old/colors.js";
      enum Color { Red = 5 }
      const place = () => process.pid + ":" + threadId;
      export const app = new App();
      app.get("/place", async () => place());
      for (const kind of ["process", "thread"] as const) {
        const pooled = new App({ pool: { size: 1, kind } });
        pooled.get("/plain", () => ({ colors: [Color.Red, green], place: place() }));
        app.mount("/" + kind, pooled);
      }`,
    "old/package.json": "{}",
    "old/colors.ts": "enum Color { Green = 7 }\nexport const green = Color.Green;",
  };

  let project: Project;
  let url = "";

  beforeAll(async () => {
    project = await Project.create(files);
    [url] = await project.start(["run", "--port", "0"]).next(/http:\/\/127\.0\.0\.1:\d+/);
  });
  afterAll(() => project[Symbol.asyncDispose]());

  it.each(["process", "thread"])("loads the same TypeScript in a %s", async (kind) => {
    const plain = (await (await fetch(`${url}/${kind}/plain`)).json()) as { colors: number[]; place: string };
    const server = (await (await fetch(`${url}/place`)).json()) as string;
    expect(plain.colors).toEqual([5, 7]);
    expect(plain.place).not.toBe(server);
  });
});
