/**
 * The programs of the migration pages that share a session, a user and a database with the old application, in both directions.
 * Packages that are not devDependencies are fetched on demand.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Client } from "pg";
import { WebSocket } from "ws";
import { type Block, blocksOf, fileOf } from "../docs/_blocks.js";
import { installOnDemand, IS_SLOW } from "../support/on-demand.js";
import { type Cluster, startCluster } from "../support/postgres-cluster.js";
import { ANNOUNCE } from "./_announce.js";

const DOCS = path.join(import.meta.dirname, "../../docs");
const describeSlow = IS_SLOW ? describe : describe.skip;

function blocksBelow(page: string, heading: string): Block[] {
  const text = readFileSync(path.join(DOCS, page), "utf8");
  const section = text.slice(text.indexOf(heading) + heading.length);
  return blocksOf(page, section.slice(0, section.search(/^## /m)));
}

/** A program that runs, and a client of it with cookies and a token. */
class Program implements AsyncDisposable {
  static async start(home: string, files: Readonly<Record<string, string>>): Promise<Program> {
    const folder = path.join(home, `${process.pid}-${Math.random().toString(36).slice(2)}`);
    await mkdir(folder);
    await writeFile(path.join(folder, "package.json"), '{ "type": "module" }');
    for (const [name, code] of Object.entries(files)) await writeFile(path.join(folder, name), code);
    const child = spawn(process.execPath, ["main.js"], {
      cwd: folder,
      env: { ...process.env, DATABASE_URL: cluster.url },
      stdio: ["ignore", "pipe", "inherit"],
    });
    for await (const line of createInterface({ input: child.stdout })) {
      const port = /^port (\d+)$/.exec(line)?.[1];
      if (port !== undefined) return new Program(folder, child, `127.0.0.1:${port}`);
    }
    throw new Error("The program has ended before it listened.");
  }

  #headers: Record<string, string> = {};

  private constructor(
    private readonly folder: string,
    private readonly child: ReturnType<typeof spawn>,
    readonly address: string,
  ) {}

  async send(method: string, target: string): Promise<[status: number, body: unknown]> {
    const response = await fetch(`http://${this.address}${target}`, { method, headers: this.#headers });
    const text = await response.text();
    const cookies = response.headers.getSetCookie().map((line) => line.split(";")[0]);
    if (cookies.length > 0) this.#headers["cookie"] = cookies.join("; ");
    const isJSON = response.headers.get("content-type")?.includes("json") ?? false;
    return [response.status, isJSON ? JSON.parse(text) : text];
  }

  async login(): Promise<void> {
    const [, body] = await this.send("POST", "/api/login");
    const { token } = body as { token: string | null };
    if (token !== null) this.#headers["authorization"] = `Bearer ${token}`;
  }

  async firstMessage(target: string): Promise<string> {
    const client = new WebSocket(`ws://${this.address}${target}`);
    const [data] = (await once(client, "message")) as [Buffer];
    client.terminate();
    return data.toString();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGKILL");
    await once(this.child, "close");
    await rm(this.folder, { recursive: true });
  }
}

const runnable = (code: string) => ANNOUNCE + code.replace(/\b8000\b/, "0");

let cluster: Cluster;
let database: Client;
beforeAll(async () => {
  if (!IS_SLOW) return;
  cluster = await startCluster();
  database = new Client({ connectionString: cluster.url });
  await database.connect();
  await database.query("CREATE TABLE visits (name text)");
});
afterAll(async () => {
  if (!IS_SLOW) return;
  await database.end();
  await cluster[Symbol.asyncDispose]();
});

describeSlow.each([
  ["migrate-from-express.md", "Express", "migrate-express", ["express@5.3.0", "express-session@1.19.0"]],
  ["migrate-from-fastify.md", "Fastify", "migrate-fastify", ["@fastify/session@11.1.3", "@fastify/cookie@11.1.5"]],
])("%s shares its session, user and database (skipped without TSGI_SLOW=1)", (page, name, folder, packages) => {
  const [inside, inFront] = blocksBelow(page, "### Share the session");
  const programOf = (block: Block | undefined) => ({ "main.js": runnable(`${block?.before}\n${block?.code}`) });

  it("with the App inside", async () => {
    await database.query("TRUNCATE visits");
    await using program = await Program.start(installOnDemand(folder, packages), programOf(inside));
    expect((await program.send("GET", "/api/visits"))[0]).toBe(401);
    await program.login();
    expect(await program.send("GET", "/api/visits")).toEqual([200, { user: "ada", count: 0 }]);
    expect((await program.send("POST", "/api/visits"))[0]).toBe(201);
    expect(await program.send("GET", "/api/visits")).toEqual([200, { user: "ada", count: 1 }]);
    expect(await program.send("GET", "/api/seen")).toEqual([200, { seen: true }]);
    expect(await program.send("GET", "/api/fails")).toEqual([500, { reported: "broken" }]);
    await program.send("POST", "/api/logout");
    expect((await program.send("GET", "/api/visits"))[0]).toBe(401);
  });

  it("with the App on the port", async () => {
    await database.query("TRUNCATE visits");
    await using program = await Program.start(installOnDemand(folder, packages), programOf(inFront));
    expect((await program.send("GET", "/api/visits"))[0]).toBe(401);
    await program.login();
    expect(await program.send("GET", "/api/visits")).toEqual([200, { user: "ada", count: 0 }]);
    expect((await program.send("POST", "/api/visits"))[0]).toBe(201);
    expect(await program.send("GET", "/api/visits")).toEqual([200, { user: "ada", count: 1 }]);
    expect(await program.send("GET", "/api/fails")).toEqual([500, { reported: "broken" }]);
    expect((await program.send("GET", "/docs"))[0]).toBe(404);
    expect(await program.firstMessage("/live")).toBe(`still ${name}`);
    await program.send("POST", "/api/logout");
    expect((await program.send("GET", "/api/visits"))[0]).toBe(401);
  });
});

/** An application of Nest, without the syntax of decorators, which Node does not run. */
const NEST = {
  "visits.service.js": `
    import pg from "pg";
    export class VisitsService {
      db = new pg.Pool({ connectionString: process.env.DATABASE_URL });
      async count() {
        const { rows } = await this.db.query("SELECT count(*)::int FROM visits");
        return { count: rows[0].count };
      }
      add = (name) => this.db.query("INSERT INTO visits VALUES ($1)", [name]);
    }`,
  "app.module.js": `
    import "reflect-metadata";
    import { Catch, Controller, Dependencies, Get, Module, Post, UnauthorizedException, UseGuards } from "@nestjs/common";
    import { APP_FILTER } from "@nestjs/core";
    import { JwtModule, JwtService } from "@nestjs/jwt";
    import { WebSocketGateway } from "@nestjs/websockets";
    import { VisitsService } from "./visits.service.js";

    const decorate = (target, name, ...decorators) => {
      const property = Object.getOwnPropertyDescriptor(target.prototype, name);
      for (const decorator of decorators) decorator(target.prototype, name, property);
    };
    class LoginGuard {
      constructor(jwt) { this.jwt = jwt; }
      canActivate(context) {
        const request = context.switchToHttp().getRequest();
        try {
          request.user = this.jwt.verify((request.headers.authorization ?? "").replace("Bearer ", ""));
          return true;
        } catch {
          throw new UnauthorizedException();
        }
      }
    }
    Dependencies(JwtService)(LoginGuard);
    class RootController {
      constructor(jwt, visits) { Object.assign(this, { jwt, visits }); }
      login() { return { token: this.jwt.sign({ name: "ada" }) }; }
      async add() { await this.visits.add("ada"); }
      fails() { throw new RangeError("broken"); }
      whoami(request) { return { name: request.user.name }; }
    }
    Controller()(RootController);
    Dependencies(JwtService, VisitsService)(RootController);
    decorate(RootController, "login", Post("api/login"));
    decorate(RootController, "add", Post("api/visits"));
    decorate(RootController, "fails", Get("api/fails"));
    decorate(RootController, "whoami", Get("whoami"), UseGuards(LoginGuard));
    const { Req } = await import("@nestjs/common");
    Req()(RootController.prototype, "whoami", 0);
    class ReportFilter {
      catch(error, host) { host.switchToHttp().getResponse().status(500).json({ reported: error.message }); }
    }
    Catch(RangeError)(ReportFilter);
    class LiveGateway {
      handleConnection(client) { client.send("still Nest"); }
    }
    WebSocketGateway({ path: "/live" })(LiveGateway);
    export class AppModule {}
    Module({
      imports: [JwtModule.register({ secret: "change me" })],
      controllers: [RootController],
      providers: [VisitsService, LoginGuard, LiveGateway, { provide: APP_FILTER, useClass: ReportFilter }],
    })(AppModule);`,
};
const NEST_PACKAGES = [
  "@nestjs/core@12.5.0",
  "@nestjs/common@12.5.0",
  "@nestjs/platform-express@12.5.0",
  "@nestjs/platform-ws@12.1.1",
  "@nestjs/websockets@12.1.1",
  "@nestjs/jwt@12.0.2",
  "reflect-metadata@0.2.2",
  "rxjs@7.8.2",
];

/** Adds the route of `me.js`, WebSockets, and the error middleware that a service such as Sentry adds to Express. */
const withRoutes = (code: string) => {
  const own = `import { WsAdapter } from "@nestjs/platform-ws";\nimport { addRoutes } from "./me.js";\n${code}`;
  return runnable(
    own
      .replace("AppModule);", "AppModule, { logger: false });\nnest.useWebSocketAdapter(new WsAdapter(nest));")
      .replace("app.mount(", "addRoutes(app, nest);\napp.mount("),
  );
};

describeSlow("migrate-from-nestjs.md (skipped without TSGI_SLOW=1)", () => {
  const blocks = blocksBelow("migrate-from-nestjs.md", "## Move one route");
  const [inside, inFront] = blocks.filter((block) => fileOf(block) === "main.js").map(({ code }) => code);
  const others = Object.fromEntries(blocks.map((block) => [fileOf(block) ?? "", block.code]));
  const start = (main: string | undefined) =>
    Program.start(installOnDemand("migrate-nest", NEST_PACKAGES), {
      ...others,
      ...NEST,
      "main.js": withRoutes(main ?? ""),
    });

  const check = async (program: Program): Promise<void> => {
    await database.query("TRUNCATE visits");
    expect(await program.send("GET", "/api/visits")).toEqual([200, { count: 0 }]);
    expect((await program.send("POST", "/api/visits"))[0]).toBe(201);
    expect(await program.send("GET", "/api/visits")).toEqual([200, { count: 1 }]);
    expect(await program.send("GET", "/api/fails")).toEqual([500, { reported: "broken" }]);
    expect((await program.send("GET", "/none"))[0]).toBe(404);
  };

  it("its programs have the services, errors and gateways of Nest, with the App inside", async () => {
    await using program = await start(inside);
    await check(program);
    expect(await program.firstMessage("/live")).toBe("still Nest");
  });

  it("its programs have the services, errors and gateways of Nest, with the App on the port", async () => {
    await using program = await start(inFront);
    await check(program);
    expect(await program.firstMessage("/live")).toBe("still Nest");
    expect((await program.send("GET", "/api/me"))[0]).toBe(401);
    await program.login();
    expect(await program.send("GET", "/api/me")).toEqual([200, { name: "ada" }]);
  });

  it("asks Nest for the user with the App inside", async () => {
    const add = others["add-tsgi.js"]?.replace("const options", "addRoutes(app, nest);\n  const options");
    const own = `import { addRoutes as add } from "./me.js";
      const addRoutes = (app, nest) => add({ get: (path, ...rest) => app.get(path.replace("/api", ""), ...rest) }, nest);\n${add}`;
    const files = { ...others, ...NEST, "add-tsgi.js": own, "main.js": withRoutes(inside ?? "") };
    await using program = await Program.start(installOnDemand("migrate-nest", NEST_PACKAGES), files);
    expect((await program.send("GET", "/api/me"))[0]).toBe(401);
    await program.login();
    expect(await program.send("GET", "/api/me")).toEqual([200, { name: "ada" }]);
  });
});
