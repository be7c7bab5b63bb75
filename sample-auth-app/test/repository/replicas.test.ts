import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import { text } from "node:stream/consumers";

import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import supertest from "supertest";

import { createSchema } from "./support/databases.js";
import { follow } from "./support/live-items.js";
import { startNginx, WITHOUT_NGINX } from "./support/nginx.js";
import { startCluster, WITHOUT_CLUSTER } from "./support/postgres-cluster.js";
import { startServer, type Program } from "./support/program.js";
import { startRedis, WITHOUT_REDIS } from "./support/redis-server.js";
import { refreshCookieOf } from "./support.js";
import { PASSWORD, SECRET_KEY } from "./support/constants.js";
import { temporaryFolder } from "./support/folder.js";

const lacking = [WITHOUT_CLUSTER, WITHOUT_REDIS, WITHOUT_NGINX].filter((reason) => reason !== null).join(", ");
const describeReplicas = lacking === "" ? describe : describe.skip;

/** Three processes of the application in production, on one PostgreSQL and one Redis, behind nginx. */
async function startReplicas() {
  const folder = await temporaryFolder();
  const cluster = await startCluster();
  const redis = await startRedis();
  const { url: databaseUrl } = await createSchema(cluster.url);
  const env = {
    NODE_ENV: "production",
    SECRET_KEY,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redis.url,
    TRUSTED_PROXIES: "127.0.0.1",
  };
  const start = (port = 0) => startServer({ ...env, PORT: String(port) }, folder.path);
  const programs: Program[] = await Promise.all([start(), start(), start()]);
  const urls = await Promise.all(programs.map(({ ready }) => ready));
  const ports = urls.map((url) => Number(new URL(url).port));
  const nginx = await startNginx(ports);
  return {
    nginx,
    urls,
    replicas: urls.map((url) => supertest(url)),
    logs: () => programs.map((program) => program.stderr()).join(""),
    /** Stops a replica as an update does, and starts it again in its place. Gives the status that it ended with. */
    restart: async (index: number) => {
      const program = programs[index]!;
      program.kill("SIGTERM");
      const status = await program.ended;
      programs[index] = await start(ports[index]);
      await programs[index].ready;
      return status;
    },
    [Symbol.asyncDispose]: async () => {
      for (const part of [nginx, ...programs, redis, cluster, folder]) {
        await part[Symbol.asyncDispose]();
      }
    },
  };
}

const form = (username: string, password = PASSWORD) => ({ username, password });

describeReplicas(`three replicas${lacking === "" ? "" : ` (${lacking})`}`, () => {
  let all: Awaited<ReturnType<typeof startReplicas>>;
  let agent: Agent;

  beforeAll(async () => {
    all = await startReplicas();
    agent = new Agent({ keepAlive: true, ca: all.nginx.certificate });
    for (const username of ["alice", "bob"]) {
      const user = { username, email: `${username}@example.com`, password: PASSWORD };
      await all.replicas[0]!.post("/users").send(user).expect(201);
    }
  });
  afterAll(async () => {
    agent?.destroy();
    await all?.[Symbol.asyncDispose]();
  });

  /** A request through nginx. */
  async function ask(method: string, path: string, headers: RequestOptions["headers"] = {}, body = "") {
    return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>((resolve, reject) => {
      const request = httpsRequest(new URL(path, all.nginx.url), { method, agent, headers }, (response) => {
        const { statusCode: status = 0, headers: received } = response;
        text(response).then((content) => resolve({ status, headers: received, body: content }), reject);
      });
      request.on("error", reject).end(body);
    });
  }

  async function login(username: string) {
    const response = await all.replicas[0]!.post("/auth/token").type("form").send(form(username)).expect(200);
    return { token: String(response.body.access_token), cookie: refreshCookieOf(response) };
  }

  it("create one valid successor of a refresh token that is sent twenty times concurrently, spread over them", async () => {
    // The first requests of a process are slow, and a request that is read much later than the others is a theft.
    const warmUp = async (replica: (typeof all.replicas)[number]) => {
      await replica
        .post("/auth/refresh")
        .set("Cookie", (await login("bob")).cookie)
        .expect(200);
    };
    await Promise.all(all.replicas.map(warmUp));
    const { cookie } = await login("bob");
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => all.replicas[index % 3]!.post("/auth/refresh").set("Cookie", cookie)),
    );
    const [success, ...others] = answers.filter(({ status }) => status === 200);
    expect(others).toEqual([]);
    await all.replicas[0]!.post("/auth/refresh").set("Cookie", refreshCookieOf(success!)).expect(200);
  });

  it("count wrong passwords together", async () => {
    const statuses: number[] = [];
    for (let guess = 0; guess < 40; guess += 1) {
      const replica = all.replicas[guess % 3]!;
      statuses.push((await replica.post("/auth/token").type("form").send(form("carol", "wrong horse"))).status);
    }
    // Each one by itself would allow twenty, and so all of these forty. A Redis that is slow for a moment may miss
    // some.
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(401));
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(10);
  });

  it("show a new item live on another replica", async () => {
    const { token } = await login("bob");
    using events = await follow(all.urls[1]!, token);
    for (const name of ["pen", "lamp"]) {
      await all.replicas[0]!.post("/items").auth(token, { type: "bearer" }).send({ name }).expect(201);
      expect(await events.next()).toMatchObject({ data: { name, owner: "bob" } });
    }
  });

  it("set a Secure cookie that is returned through TLS, and require https from then on", async () => {
    const content = new URLSearchParams(form("alice")).toString();
    const type = { "Content-Type": "application/x-www-form-urlencoded" };
    const answer = await ask("POST", "/auth/token", type, content);
    expect(answer.status).toBe(200);
    const cookie = String(answer.headers["set-cookie"]);
    expect(cookie).toMatch(/^refresh_token=[\w-]{43};.*; Secure/);
    expect(answer.headers["strict-transport-security"]).toMatch(/^max-age=31536000/);
    const own = { Cookie: cookie.replace(/;.*$/, ""), Origin: all.nginx.url, "Sec-Fetch-Site": "same-origin" };
    expect((await ask("POST", "/auth/refresh", own)).status).toBe(200);
    const foreign = { ...own, Origin: "https://elsewhere.example", "Sec-Fetch-Site": "cross-site" };
    expect((await ask("POST", "/auth/refresh", foreign)).status).toBe(403);
  });

  it("restart one after the other without a failed request", async () => {
    const { token } = await login("alice");
    const bearer = { Authorization: `Bearer ${token}` };
    const json = { ...bearer, "Content-Type": "application/json" };
    const restarts = new AbortController();
    const statuses = new Map<string, number>();
    const client = async (send: () => ReturnType<typeof ask>): Promise<void> => {
      while (!restarts.signal.aborted) {
        const { status, body } = await send();
        const key = status < 300 ? String(status) : `${status} ${body}`;
        statuses.set(key, (statuses.get(key) ?? 0) + 1);
      }
    };
    const clients = [
      ...Array.from({ length: 6 }, () => client(() => ask("GET", "/items?limit=5", bearer))),
      ...Array.from({ length: 4 }, () => client(() => ask("POST", "/items", json, JSON.stringify({ name: "pen" })))),
    ];
    const ended = [];
    for (const index of [0, 1, 2]) {
      ended.push(await all.restart(index));
    }
    restarts.abort();
    await Promise.all(clients);
    expect(all.nginx.errors().filter((line) => !line.includes("connect() failed"))).toEqual([]);
    expect(ended).toEqual([0, 0, 0]);
    expect([...statuses.keys()].toSorted()).toEqual(["200", "201"]);
    expect(Math.min(...statuses.values())).toBeGreaterThan(20);
  });
});
