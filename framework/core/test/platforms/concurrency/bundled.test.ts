import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { build, type Format } from "esbuild";
import { binaryOf } from "../../../../test/runtimes/_program.js";
import { IS_SLOW } from "../../../../test/support/on-demand.js";
import { installPackages } from "../../../../test/support/packages.js";
import { LimitedProgram } from "../../../../test/support/limited-program.js";

const SOURCE = path.join(import.meta.dirname, "fixtures/bundled.js");

let folder: string;

beforeAll(async () => {
  // Not the folder of this package: the bundle finds only itself.
  folder = await realpath(await mkdtemp(path.join(tmpdir(), "tsgi-bundle-")));
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const bundles = new Map<Format, Promise<string>>();

/** Makes the bundle of a format once. */
function bundle(format: Format): Promise<string> {
  const made = bundles.get(format) ?? bundleOnce(format);
  bundles.set(format, made);
  return made;
}

async function bundleOnce(format: Format): Promise<string> {
  const outfile = path.join(folder, format === "esm" ? "app.mjs" : "app.cjs");
  const options = { bundle: true, platform: "node", format, minify: true, logLevel: "error" } as const;
  await build({ ...options, entryPoints: [SOURCE], outfile });
  return outfile;
}

interface Answer {
  pid: number;
  args: string[];
  code: string;
}

const get = async (url: string) => (await (await fetch(url)).json()) as Answer;

/** Uses the pool of a program that serves, and ends the program. Gives the most processes that it had at a time. */
async function usePool(command: readonly string[]): Promise<number> {
  await using program = LimitedProgram.start(command, folder);
  const url = await program.said(/Listening on (http:\S+)/);
  const [pooled, loop] = [await get(`${url}/pooled`), await get(`${url}/loop`)];
  expect(pooled.pid).not.toBe(loop.pid);
  expect(program.output).toMatch(/\/pooled.*runs? in worker processes|runs? in worker processes.*\/pooled/);
  expect(program.output).not.toMatch(/ERROR|inline/);
  expect(await program.stop()).toBe(0);
  expect(program.members()).toEqual([]);
  return program.peak;
}

describe.each(["esm", "cjs"] as const)("an application in a bundle of the format %s", (format) => {
  let file: string;
  beforeAll(async () => {
    file = await bundle(format);
  });

  it("runs non-async handlers in processes, which do not start others", async () => {
    expect(await usePool([process.execPath, file])).toBeLessThanOrEqual(3);
  });

  it("runs non-async handlers in threads", async () => {
    await using program = LimitedProgram.start([process.execPath, file, "thread"], folder);
    const url = await program.said(/Listening on (http:\S+)/);
    expect((await get(`${url}/pooled`)).pid).toBe((await get(`${url}/loop`)).pid);
    expect(program.output).toContain("runs in worker threads");
    expect(program.peak).toBe(1);
  });

  describe("as a server", () => {
    let program: LimitedProgram;
    let url: string;
    beforeAll(async () => {
      program = LimitedProgram.start([process.execPath, file], folder);
      url = await program.said(/Listening on (http:\S+)/);
    });
    afterAll(() => program[Symbol.asyncDispose]());

    it("reports at startup that the files of its documentation pages are missing, and links to the document there", async () => {
      expect(program.output.match(/WARN .*/g)).toEqual([
        expect.stringMatching(
          /WARN \/docs and \/redoc only link to the OpenAPI document.*Install it next to the bundle/,
        ),
      ]);
      const page = await fetch(`${url}/docs`);
      const text = await page.text();
      expect([page.status, text]).toEqual([200, expect.stringMatching(/href="\.?\/?openapi\.json"/)]);
      expect(text).not.toContain('href="./docs/');
      expect((await fetch(`${url}/docs/swagger-ui.css`)).status).toBe(404);
    });

    it("explains why a pool of functions cannot start", async () => {
      expect((await get(`${url}/own-pool`)).code).toBe("TSGI_BUNDLED_POOL");
    });
  });
});

describe("a CommonJS bundle, which has no address, together with @tsgi/docs-ui", () => {
  it("serves the pages of the documentation with their files", async () => {
    const home = path.join(folder, "with-pages");
    const file = path.join(home, "app.cjs");
    await installPackages(home, ["@tsgi/docs-ui"]);
    await copyFile(await bundle("cjs"), file);
    await using program = LimitedProgram.start([process.execPath, file], home);
    const url = await program.said(/Listening on (http:\S+)/);
    expect(program.output).not.toContain("WARN");
    const styles = await fetch(`${url}/docs/swagger-ui.css`);
    expect([styles.status, await styles.text()]).toEqual([200, expect.stringContaining("swagger-ui")]);
  });
});

describe("a bundle in a folder with @tsgi/uwebsockets", () => {
  it("is served on Node's own loop, because that package uses another copy of tsgi", async () => {
    const home = path.join(folder, "with-loop");
    const file = path.join(home, "app.mjs");
    await installPackages(home, ["@tsgi/uwebsockets"]);
    const members = ["App", "SSLApp", "us_listen_socket_close", "us_socket_local_port"];
    const native = path.join(home, "node_modules/uWebSockets.js");
    await mkdir(native);
    await writeFile(path.join(native, "index.js"), members.map((name) => `exports.${name} = () => {};`).join("\n"));
    await copyFile(await bundle("esm"), file);
    await using program = LimitedProgram.start([process.execPath, file], home);
    const url = await program.said(/Listening on (http:\S+)/);
    expect((await get(`${url}/loop`)).pid).toBeGreaterThan(0);
  });
});

describe("a process that a pool has started", () => {
  let file: string;
  beforeAll(async () => {
    file = await bundle("esm");
  });
  const env = { TSGI_POOL_WORKER: "1" };

  it("ends if it has no channel to the pool", async () => {
    await using program = LimitedProgram.start([process.execPath, file], folder, env);
    expect([await program.ended, program.output]).toEqual([1, ""]);
  });

  it("reports its routes, opens no port, starts no pool, and ends with its channel", async () => {
    const worker = fork(file, { env, serialization: "advanced", stdio: ["ignore", "pipe", "pipe", "ipc"] });
    let output = "";
    for (const stream of [worker.stdout, worker.stderr]) stream?.on("data", (chunk) => (output += String(chunk)));
    const [message] = (await once(worker, "message")) as [unknown];
    expect(message).toEqual({ tsgiReport: expect.objectContaining({ type: "tables", isFinal: false }) });
    worker.disconnect();
    expect(await once(worker, "exit")).toEqual([0, null]);
    expect(output).toBe("");
  });
});

const isHere = IS_SLOW && process.platform === "linux" && process.arch === "x64";

(isHere ? describe : describe.skip)("a single executable", () => {
  /** The mark in Node's binary: https://nodejs.org/api/single-executable-applications.html */
  const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

  async function buildWithNode(node: string): Promise<string> {
    const [config, blob, binary] = ["sea.json", "sea.blob", `sea-${path.basename(path.dirname(node))}`].map((name) =>
      path.join(folder, name),
    ) as [string, string, string];
    const main = await bundle("cjs");
    await writeFile(config, JSON.stringify({ main, output: blob, disableExperimentalSEAWarning: true }));
    execFileSync(node, ["--experimental-sea-config", config], { stdio: "ignore" });
    await copyFile(await realpath(node), binary);
    const inject = [binaryOf("postject"), binary, "NODE_SEA_BLOB", blob, "--sentinel-fuse", FUSE];
    execFileSync(process.execPath, inject, { stdio: "ignore" });
    await chmod(binary, 0o755);
    return binary;
  }

  async function buildWithBun(source: string, name: string): Promise<string> {
    const binary = path.join(folder, name);
    execFileSync(binaryOf("bun"), ["build", "--compile", source, "--outfile", binary], {
      cwd: path.dirname(SOURCE),
      stdio: "ignore",
    });
    await chmod(binary, 0o755);
    return binary;
  }

  it("of this Node runs non-async handlers in processes, which do not start others", async () => {
    expect(await usePool([await buildWithNode(process.execPath)])).toBeLessThanOrEqual(3);
  });

  it("of Node 22 runs non-async handlers in processes, which do not start others", async () => {
    expect(await usePool([await buildWithNode(binaryOf("node22"))])).toBeLessThanOrEqual(3);
  });

  it("of Bun runs non-async handlers in processes, which do not start others", async () => {
    expect(await usePool([await buildWithBun(SOURCE, "bun-app")])).toBeLessThanOrEqual(3);
  });

  it("runs non-async handlers inline, with one warning, if its processes do not become workers", async () => {
    const source = path.join(path.dirname(SOURCE), "listening.js");
    await using program = LimitedProgram.start([await buildWithBun(source, "bun-listening")], folder);
    const url = await program.said(/at (http:\S+)/);
    expect((await get(`${url}/pooled`)).pid).toBe((await get(`${url}/loop`)).pid);
    expect(program.output.match(/ERROR.*|WARN .*inline.*/g)).toEqual([expect.stringContaining("cannot start itself")]);
    expect(program.peak).toBeLessThanOrEqual(2);
  });
});
