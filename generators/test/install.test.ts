import { cp, mkdir, readFile, rename } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { describe, expect, it, jest } from "@jest/globals";
import { followPages } from "./agent-pages.js";
import { copiesOf, readDockerfile, stagesOf } from "./dockerfile.js";
import { fetchPackages } from "./registry.js";
import { serve } from "./scaffolded.js";
import { run, spawnTsgi, temporaryFolder } from "./support.js";

jest.setTimeout(900_000);

/** An installation of these takes half a minute and more; `make test-all` sets the variable. */
const isSlow = process.env["TSGI_SLOW"] !== undefined;
const slowly = isSlow ? it : it.skip;

/** Runs a command of a shell in a project, and shows its output if it fails. */
async function type(line: string, cwd: string, env: Record<string, string> = {}): Promise<string> {
  const { status, stdout, stderr } = await run("sh", ["-c", line], { cwd, env });
  expect([line, status, status === 0 ? "" : stdout + stderr]).toEqual([line, 0, ""]);
  return stdout;
}

/** Creates a project from the repository and installs it. `null` without a registry for the packages of others. */
async function install(parent: string, flags: readonly string[], env: Record<string, string> = {}) {
  const { status } = await run("npm", ["ping", "--fetch-retries=0", "--fetch-timeout=10000"], { cwd: parent });
  if (status !== 0) {
    console.warn("Skipped: the registry of npm does not answer.");
    return null;
  }
  // A package that npm has in its cache is not looked for again: 9 s of processor time instead of 12 s.
  const made = await spawnTsgi(["my-app", "--yes", "--no-git", ...flags], {
    cwd: parent,
    env: { npm_config_prefer_offline: "true", ...env },
  });
  expect([made.status, made.status === 0 ? "" : made.stderr]).toEqual([0, ""]);
  return join(parent, "my-app");
}

/** Expects every package that the project needs, from `vendor/` if the repository has it, and no other package. */
async function expectPackages(project: string): Promise<void> {
  // Ends with 1 for a package that is missing, extraneous or of another version.
  const tree = JSON.parse(await type("npm ls --all --json", project));
  expect(tree.problems).toBeUndefined();
  const { packages } = JSON.parse(await readFile(join(project, "package-lock.json"), "utf8"));
  const own = Object.entries<{ resolved: string }>(packages)
    .filter(([path]) => /^node_modules\/(?:@tsgi\/[^/]+|tsgi|create-tsgi)$/.test(path))
    .map(([, { resolved }]) => resolved);
  expect(own.length).toBeGreaterThan(4);
  expect(own.filter((resolved) => !resolved.startsWith("file:vendor/"))).toEqual([]);
}

/** Logs in as the demo user of the template `auth`. */
async function login(url: string): Promise<unknown> {
  const form = new URLSearchParams({ username: "demo", password: "demo-password" });
  const response = await fetch(`${url}/auth/token`, { method: "POST", body: form });
  const { access_token: token } = (await response.json()) as { access_token: string };
  return (await fetch(`${url}/users/me`, { headers: { authorization: `Bearer ${token}` } })).json();
}

/** The most MB that a production installation has: 1.2 times the published size. */
const SIZES = { "api with a database": 75, auth: 125 };

/**
 * Follows the Dockerfile of a project, as `docker build` does after the installation: runs its commands in the project, and copies
 * files into a folder.
 *
 * @returns the folder, the command that starts it, and its environment
 */
async function buildImage(project: string, folder: string) {
  const [build = [], image = []] = stagesOf(readDockerfile(await readFile(join(project, "Dockerfile"), "utf8")));
  for (const { words } of build.filter(({ name }) => name === "RUN")) {
    await type(words.join(" ").replace(/^npm ci && /, ""), project);
  }
  await mkdir(folder);
  for (const path of copiesOf(image).flatMap(({ paths }) => paths)) {
    const own = path.replace(/^\/app\//, "");
    await cp(join(project, own), join(folder, own), { recursive: true, verbatimSymlinks: true });
  }
  const env = image.flatMap(({ name, words }) => (name === "ENV" ? words.map((word) => word.split("=")) : []));
  const command = image.findLast(({ name }) => name === "CMD")?.words.join(" ") ?? "";
  return { command: command.replace("--port 8000", "--port 0"), env: Object.fromEntries(env) };
}

describe("a project from the repository, installed (only minimal without TSGI_SLOW=1)", () => {
  describe.each([
    ["minimal", it, ["--template=minimal", "--no-load-tests"], /^GET +\/items/m],
    ["api with a database", slowly, ["--template=api", "--database=sqlite"], /^GET +\/items/m],
    ["auth", slowly, ["--template=auth"], /^POST +\/auth\/token /m],
  ] as const)("%s", (name, check, flags, route) => {
    check("has its packages, grows by a route, passes its test, and starts, even after it was moved", async () => {
      await using folder = await temporaryFolder();
      const installed = await install(folder.path, flags);
      if (installed === null) {
        return;
      }
      await expectPackages(installed);
      expect(await type("node_modules/.bin/tsgi routes", installed)).toMatch(route);
      const project = join(folder.path, "moved");
      await rename(installed, project);

      const explanation = await type("node_modules/.bin/tsgi explain TSGI_DUPLICATE_ROUTE", project);
      expect(explanation).toContain("the same method");
      await type('npx --no -- create-tsgi route "GET /reports/{report_id}"', project);
      await type("npm test get-reports-report-id", project);
      if (isSlow) {
        expect(await followPages(project)).toEqual([]);
        await type("npm run check", project);
        await type("npx --no -- tsgi doctor", project);
      }
      await using server = await serve(["npm", "start"], project, {}, name === "auth" ? /Try: curl/ : undefined);
      expect((await fetch(`${server.url}/openapi.json`)).status).toBe(200);
      expect(server.output()).not.toContain("SECRET_KEY");
      if (name === "auth") expect(await login(server.url)).toMatchObject({ username: "demo" });
    });
  });

  describe.each([
    ["api with a database", ["--template=api", "--database=sqlite"], "/items"],
    ["auth", ["--template=auth"], "/users"],
  ] as const)("%s", (name, flags, route) => {
    slowly("starts with the packages of its image", async () => {
      await using folder = await temporaryFolder();
      const project = await install(folder.path, flags);
      if (project === null) {
        return;
      }
      const image = join(folder.path, "image");
      const { command, env } = await buildImage(project, image);
      const [size = ""] = (await type("du -sm node_modules", image)).split("\t");
      expect(Number(size)).toBeLessThan(SIZES[name]);
      const url = `file:${join(folder.path, "app.db")}`;
      const variables = { ...env, DATABASE_URL: url, SECRET_KEY: "x".repeat(64), PORT: "0" };
      await using server = await serve(["sh", "-c", command], image, variables);
      const body = JSON.stringify({ username: "alice", password: "correct horse battery", name: "Pen", price: 1.5 });
      const headers = { "content-type": "application/json" };
      expect(await fetch(server.url + route, { method: "POST", headers, body })).toMatchObject({ status: 201 });
    });
  });

  describe.each([
    ["pnpm", "10.18.3"],
    ["yarn", "1.22.22"],
  ])("minimal by %s %s", (name, version) => {
    slowly("has its packages from vendor/", async () => {
      const bin = join(await fetchPackages(name, { dependencies: { [name]: version } }), "node_modules/.bin");
      await using folder = await temporaryFolder();
      const env = {
        PATH: `${bin}${delimiter}${process.env["PATH"]}`,
        // Yarn 1 takes a file of the same name and version from its cache.
        YARN_CACHE_FOLDER: join(folder.path, "yarn-cache"),
      };
      const project = await install(folder.path, ["--template=minimal", `--package-manager=${name}`], env);
      if (project === null) {
        return;
      }
      expect(await type("node_modules/.bin/tsgi routes", project, env)).toMatch(/^GET +\/items/m);
      await type(`${name} test`, project, env);
    });
  });
});
