import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "@jest/globals";
import { parse } from "yaml";

import { readSettings } from "../../src/config.js";
import { openApp } from "./support.js";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const FILE = path.join(ROOT, "docker-compose.yml");
const describeCompose = existsSync(FILE) ? describe : describe.skip;

interface Service {
  image: string;
  build?: { context: string; dockerfile: string };
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test?: string[]; disable?: boolean };
  volumes?: string[];
  command?: string[];
  read_only?: boolean;
}

/** The file as Compose reads it, with these variables in the environment. */
function readCompose(variables: Readonly<Record<string, string | undefined>>) {
  const text = readFileSync(FILE, "utf8").replaceAll(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_, name: string, operator: string | undefined, word: string) => {
      const value = variables[name] ?? (operator === "-" ? word : undefined);
      if (value === undefined) {
        throw new Error(`${name}: ${word}`);
      }
      return value;
    },
  );
  return parse(text, { merge: true }) as { services: Record<string, Service>; volumes: Record<string, unknown> };
}

const SECRETS = { SECRET_KEY: "k".repeat(64), POSTGRES_PASSWORD: "0123456789abcdef" };
const replicasOf = (services: Record<string, Service>) => Object.keys(services).filter((name) => /^app-\d$/.test(name));

describeCompose("docker-compose.yml", () => {
  it.each(Object.keys(SECRETS))("does not start without %s", (name) => {
    expect(() => readCompose({ ...SECRETS, [name]: undefined })).toThrow(name);
  });

  it("configures each replica for production, in the same way", () => {
    const { services } = readCompose(SECRETS);
    const replicas = replicasOf(services).map((name) => services[name]!);
    expect(replicas.length).toBeGreaterThan(1);
    const [config, ...others] = replicas.map((service) =>
      readSettings({ NODE_ENV: "production", ...service.environment }),
    );
    expect(config).toMatchObject({
      databaseUrl: `postgresql://app:${SECRETS.POSTGRES_PASSWORD}@postgres/app`,
      redisUrl: "redis://redis:6379",
      trustedProxies: ["172.30.117.0/24"],
    });
    expect(others).toEqual(replicas.slice(1).map(() => config));
    expect(replicas.every(({ read_only }) => read_only === true)).toBe(true);
  });

  it("has PostgreSQL bear the connections of all replicas", () => {
    const { services } = readCompose(SECRETS);
    const needed = [...replicasOf(services), "worker"].map(
      (name) => readSettings(services[name]!.environment ?? {}).databasePoolSize,
    );
    expect(needed.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(97); // 100, less those kept for superusers
  });

  it("configures every replica in nginx, and everything that the template requires", () => {
    const { services } = readCompose(SECRETS);
    const { environment = {} } = services["nginx"]!;
    const servers = [...environment["REPLICAS"]!.matchAll(/server ([\w-]+):8000 /g)].map(([, name]) => name);
    expect(servers).toEqual(replicasOf(services));
    const template = readFileSync(path.join(ROOT, "sample-auth-app/nginx/site.conf.template"), "utf8");
    const asked = [...template.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name!);
    expect(Object.keys(environment)).toEqual(expect.arrayContaining(asked));
  });

  it("waits for a healthy service only if there is a check", () => {
    const { services } = readCompose(SECRETS);
    for (const { depends_on: needs = {} } of Object.values(services)) {
      for (const [name, { condition }] of Object.entries(needs)) {
        expect(condition).toBe("service_healthy");
        expect(services[name]?.healthcheck?.test).toBeDefined();
      }
    }
  });

  it("mounts files and volumes that there are", () => {
    const { services, volumes } = readCompose(SECRETS);
    const sources = Object.values(services).flatMap((service) =>
      (service.volumes ?? []).map((volume) => volume.split(":")[0]!),
    );
    const missing = sources.filter((source) =>
      source.startsWith(".") ? !existsSync(path.join(ROOT, source)) : !(source in volumes),
    );
    expect(missing).toEqual([]);
  });

  it("runs the jobs in a worker with the settings of the replicas", () => {
    const { worker, ...services } = readCompose(SECRETS).services;
    expect(worker?.environment).toEqual(services["app-1"]?.environment);
    expect(existsSync(path.join(ROOT, worker?.command?.at(-1) ?? ""))).toBe(true);
    expect(new URL(readSettings(worker?.environment ?? {}).smtpUrl ?? "").hostname in services).toBe(true);
  });

  it("requests paths that the application has", async () => {
    await using app = await openApp();
    const text = readFileSync(FILE, "utf8") + readFileSync(path.join(ROOT, "sample-auth-app/Dockerfile"), "utf8");
    const paths = new Set(
      [...text.matchAll(/(?:localhost|127\.0\.0\.1)(?::8000|' \+ process\.env\.PORT \+ ')?(\/[a-z]+)/g)].map(
        ([, name]) => name!,
      ),
    );
    expect([...paths].toSorted()).toEqual(["/health", "/ready"]);
    for (const name of paths) {
      await app.request.get(name).expect(200);
    }
  });
});

describeCompose("the Dockerfile", () => {
  const readLines = () => readFileSync(path.join(ROOT, "sample-auth-app/Dockerfile"), "utf8").split("\n");

  it("copies files that there are, and starts one of them as a user who is not root", () => {
    const lines = readLines();
    const copies = lines.filter((line) => line.startsWith("COPY ") && !line.includes("--from="));
    const sources = copies.flatMap((line) => line.split(/\s+/).slice(1, -1));
    expect(sources.filter((source) => !existsSync(path.join(ROOT, source)))).toEqual([]);
    expect(lines.indexOf("USER node")).toBeGreaterThan(lines.findLastIndex((line) => line.startsWith("COPY")));
    const program = /CMD \["node", "(.*)"\]/.exec(lines.findLast((line) => line.startsWith("CMD")) ?? "")?.[1];
    expect(existsSync(path.join(ROOT, program ?? ""))).toBe(true);
  });

  it("copies the folders outside of the framework that its build reads", () => {
    const scripts = ["build.js", "agents.js"].map((name) =>
      readFileSync(path.join(ROOT, "framework/scripts", name), "utf8"),
    );
    const read = [...scripts.join("\n").matchAll(/FRAMEWORK, "\.\.\/([\w/-]+)"/g)].map(([, folder]) => folder!);
    expect(read).not.toEqual([]);
    const lines = readLines();
    expect(read.filter((folder) => !lines.includes(`COPY ${folder} ${folder}`))).toEqual([]);
  });

  it("builds on Debian's slim image with only npm ci", () => {
    const lines = readLines();
    expect(lines.filter((line) => line.startsWith("FROM node")).every((line) => /-bookworm-slim( |$)/.test(line))).toBe(
      true,
    );
    expect(lines.filter((line) => /npm (?!ci|run build)/.test(line))).toEqual([]);
  });
});
