/** Versions and numbers of packages that pages state, compared with the manifests, lock files and scripts that decide them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";

const ROOT = path.join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");

type Versions = Readonly<Record<string, string>>;

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Versions;
  readonly devDependencies?: Versions;
  readonly optionalDependencies?: Versions;
  readonly peerDependencies?: Versions;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly engines?: { readonly node?: string };
}

const manifest = (folder: string) => JSON.parse(read(`${folder}/package.json`)) as Manifest;

function markdownIn(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
    .map((name) => `${folder}/${name}`);
}

const workspaces = [
  ...readdirSync(path.join(ROOT, "framework")).map((name) => `framework/${name}`),
  "framework",
  "generators",
  "sample-auth-app",
  "load-tests",
].filter((folder) => existsSync(path.join(ROOT, folder, "package.json")));

/** Each page, by its path. A block `<!-- figures -->` or `<!-- results -->` is written by a program, from the installed versions. */
const pages = new Map(
  [...markdownIn("framework/docs"), "README.md", "CONTRIBUTING.md", ...workspaces.map((name) => `${name}/README.md`)]
    .filter((file) => existsSync(path.join(ROOT, file)))
    .map((file) => [file, read(file).replaceAll(/<!-- (figures|results|cold starts)\b.*?<!-- end of \1 -->/gs, "")]),
);

const page = (name: string) => pages.get(`framework/docs/${name}`) ?? "";

/** The versions of the packages that the repository installs, and that its slow tests fetch. */
const installed = new Map<string, Set<string>>();

function addVersion(name: string, version: string): void {
  installed.set(name, (installed.get(name) ?? new Set()).add(version));
}

for (const folder of [...workspaces, "load-tests/peers", "generators/overlays/runtimes/workers"]) {
  const { dependencies, devDependencies } = manifest(folder);
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) addVersion(name, version);
}

const FETCHED = [
  "framework/core/test/openapi/document-clients.test.ts",
  "framework/openapi-tools/test/generated-clients.test.ts",
  "framework/test/browser/passkeys.test.ts",
  "framework/test/deploy/_commands.ts",
  "framework/scripts/runtimes.js",
  "framework/bench/broadcast/run.mjs",
];
for (const file of FETCHED) {
  for (const [, name = "", version = ""] of read(file).matchAll(/"?(@?[\w/.-]+)"?(?:@|: ")(\d[\w.-]*)"/g))
    addVersion(name, version);
}

/** Names in sentences, and their packages. */
const NAMES: Versions = {
  Bun: "@oven/bun-linux-x64-baseline",
  Deno: "@deno/linux-x64-glibc",
  Elysia: "elysia",
  Express: "express",
  Fastify: "fastify",
  Hono: "hono",
  NestJS: "@nestjs/core",
  "Socket.IO": "socket.io",
  "OpenAPI Generator": "@openapitools/openapi-generator-cli",
  TypeBox: "@sinclair/typebox",
  crossws: "crossws",
  "hey-api": "@hey-api/openapi-ts",
  oRPC: "@orpc/server",
  "openapi-typescript": "openapi-typescript",
  orval: "orval",
};

/** Tells if one of the installed versions is the stated one, or begins with it: `8` and `8.38` state `8.38.0`. */
function isInstalled(name: string, stated: string): boolean {
  const versions = [...(installed.get(name) ?? [])].flatMap((version) => version.split("-"));
  return versions.some((version) => version === stated || version.startsWith(`${stated}.`));
}

/** The lowest version of `>=1.2.3`. */
const lowest = ({ engines }: Manifest) => engines?.node?.replace(/^>=|\.0$/g, "") ?? "";

/** The packages that npm installs for these, by a lock file. npm installs peers too, unless they are optional. */
function countInstalled(lockFile: string, names: readonly string[]): number {
  const { packages } = JSON.parse(read(lockFile)) as {
    packages: Readonly<Record<string, Manifest & { readonly link?: boolean; readonly resolved?: string }>>;
  };
  const find = (from: string, name: string): string | undefined => {
    const folders = from.split("/node_modules/").map((_, index, all) => all.slice(0, index + 1).join("/node_modules/"));
    const places = [...folders.toReversed().map((folder) => `${folder}/node_modules/${name}`), `node_modules/${name}`];
    const place = places.find((candidate) => candidate in packages);
    return place !== undefined && packages[place]?.link ? packages[place].resolved : place;
  };
  const found = new Set<string>();
  const add = (from: string, name: string): void => {
    const place = find(from, name);
    if (place === undefined || found.has(place)) return;
    found.add(place);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = packages[place] ?? {};
    const peers = Object.keys(peerDependencies ?? {}).filter((peer) => !peerDependenciesMeta?.[peer]?.optional);
    for (const next of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) add(place, next);
  };
  for (const name of names) add("", name);
  return found.size;
}

/** The cells of the comparison's row, by the framework. */
function comparison(row: string): Readonly<Record<string, string>> {
  const lines = page("comparison.md").split("\n");
  const cellsOf = (line = "") => line.split("|").map((cell) => cell.trim());
  const names = cellsOf(lines.find((line) => line.includes("| FastAPI ")));
  const cells = cellsOf(lines.find((line) => line.startsWith(`| ${row} `)));
  return Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ""]));
}

/** Each `name@version` of a page, and each name of `NAMES` with its version, as `[text, package, version]`. */
function statedVersions(text: string): [string, string, string][] {
  const packages = text.matchAll(/(?<![\w/.-])(@?[\w-]+(?:\/[\w.-]+)?)@(\d+(?:\.\d+){0,2})(?![\w.]*\w)/g);
  const named = Object.entries(NAMES).flatMap(([name, packageName]) => {
    const pattern = new RegExp(
      `\\b${name}(?:\\]\\([^)]*\\))? (\\d+(?:\\.\\d+)*)(?=[ ,:;|](?!packages)|\\.\\s|$)`,
      "gm",
    );
    return [...text.matchAll(pattern)].map(([whole, version = ""]): [string, string, string] => [
      whole,
      packageName,
      version,
    ]);
  });
  return [
    ...[...packages].map(([whole, name = "", version = ""]): [string, string, string] => [whole, name, version]),
    ...named,
  ];
}

describe("the pages", () => {
  it("state versions that the repository installs", () => {
    const stated = [...pages].flatMap(([file, text]) => statedVersions(text).map((one) => [file, ...one] as const));
    expect(stated.length).toBeGreaterThan(40);
    expect(stated.filter(([, , name, version]) => !isInstalled(name, version))).toEqual([]);
  });

  it("require the Node.js version of a manifest", () => {
    const { resolve } = createRequire(path.join(ROOT, "framework/jobs/package.json"));
    const pgBoss = JSON.parse(readFileSync(resolve("pg-boss/package.json"), "utf8")) as Manifest;
    // Node strips types since 22.18, which orval 8 requires too.
    const known = [
      lowest(manifest("framework/core")),
      lowest(pgBoss),
      lowest(manifest("generators/overlays/runtimes/workers")),
      "22.18",
    ];
    const stated = [...pages].flatMap(([file, text]) =>
      [...text.matchAll(/\bNode(?:\.js)?(?:\]\([^)]*\))? (\d+\.\d+)(?= or (?:newer|later)|'s type)/g)].map(
        ([, version = ""]) => [file, version] as const,
      ),
    );
    expect(stated.length).toBeGreaterThan(5);
    expect(stated.filter(([, version]) => !known.includes(version))).toEqual([]);
  });

  it("compare the versions that the benchmarks install", () => {
    const row = comparison("Version, first release");
    for (const name of ["Fastify", "Hono", "Elysia", "NestJS"]) {
      const [version = ""] = row[name]?.split(",") ?? [];
      expect({ name, version, isInstalled: isInstalled(NAMES[name] ?? "", version) }).toMatchObject({
        isInstalled: true,
      });
    }
    expect(row["tsgi"]).toContain(manifest("framework/core").version?.split(".").slice(0, 2).join("."));
  });

  it("state the number of packages that npm installs", () => {
    const peers = (...names: readonly string[]) => countInstalled("load-tests/peers/package-lock.json", names);
    const nest = peers("@nestjs/core", "@nestjs/common", "@nestjs/platform-fastify", "reflect-metadata", "rxjs");
    const [own, fastify, express] = [countInstalled("package-lock.json", ["tsgi"]), peers("fastify"), peers("express")];
    expect(comparison("Packages that npm installs")).toMatchObject({
      tsgi: String(own),
      Fastify: String(fastify),
      Hono: String(peers("hono")),
      Elysia: String(peers("elysia")),
      NestJS: `${nest}, with Fastify`,
    });
    expect(page("comparison.md")).toContain(`Express 5 has ${express}`);
    for (const text of [pages.get("README.md"), page("why-another-framework.md")]) {
      const sentence = new RegExp(`installs ${own} packages[;.] Fastify has ${fastify}, and Express has ${express}\\b`);
      expect(text?.replaceAll(/\s+/g, " ")).toMatch(sentence);
    }
    expect(pages.get("framework/core/README.md")).toContain(`installs only ${own} packages`);
  });

  it("name the draft of the rate limit's headers that the code names", () => {
    const draft = /ratelimit-headers-(\d+)/.exec(read("framework/core/src/middleware/rate-limit.ts"))?.[1];
    expect(page("middleware.md")).toContain(
      `[draft ${draft}](https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-${draft})`,
    );
  });
});
