/** The forms of the application that are a single file, and what is asserted of each. */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { buildSync, type BuildOptions } from "esbuild";
import { binaryOf } from "../runtimes/_program.js";
import { LimitedProgram } from "../support/limited-program.js";
import { installOnDemand } from "../support/on-demand.js";
import { describeStatements } from "./_describe.js";

const APP = path.join(import.meta.dirname, "app");
const SOURCE = path.join(APP, "program.mjs");

/** A folder outside of this repository: a program in it finds no package. */
export function createHome(): string {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), "tsgi-one-file-")));
  chmodSync(home, 0o755); // the limited user reads it
  cpSync(path.join(APP, "public"), path.join(home, "public"), { recursive: true });
  return home;
}

/** Bundles the program with esbuild into a file of the folder, and returns the command that runs it. */
export function bundle(home: string, options: BuildOptions, name: string): readonly string[] {
  const outfile = path.join(home, name);
  // The CommonJS files of the SDK of OpenTelemetry call require("util"), which a module does not have.
  const fields = options.format === "esm" ? { mainFields: ["module", "main"] } : {};
  const shared: BuildOptions = { bundle: true, platform: "node", logLevel: "error", entryPoints: [SOURCE], outfile };
  buildSync({ ...shared, ...fields, ...options });
  return [process.execPath, outfile];
}

/** Bundles the program with rolldown, which is fetched on demand. */
export function rolldown(home: string): readonly string[] {
  const command = path.join(installOnDemand("rolldown", ["rolldown@1.3.2"]), "node_modules/rolldown/bin/cli.mjs");
  const file = path.join(home, "rolldown.mjs");
  const args = [command, SOURCE, "--platform", "node", "--no-codeSplitting", "--file", file];
  execFileSync(process.execPath, args, { cwd: APP, stdio: "ignore" });
  return [process.execPath, file];
}

/** The command of webpack, which is fetched on demand. */
export function webpackCommand(): readonly string[] {
  const home = installOnDemand("webpack", ["webpack@5.113.0", "webpack-cli@7.3.1"]);
  return [process.execPath, path.join(home, "node_modules/webpack/bin/webpack.js")];
}

/** Bundles the program with webpack, into several files. */
export function webpack(home: string): readonly string[] {
  const [node = "", ...args] = webpackCommand();
  const options = [
    "--target",
    "node",
    "--mode",
    "production",
    "--output-path",
    home,
    "--output-filename",
    "webpack.cjs",
  ];
  execFileSync(node, [...args, SOURCE, ...options], { cwd: APP, stdio: "ignore" });
  return [process.execPath, path.join(home, "webpack.cjs")];
}

/** The mark in Node's binary: https://nodejs.org/api/single-executable-applications.html */
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** Puts a bundle into a copy of Node's binary. */
export function sea(home: string, node = process.execPath): readonly string[] {
  const [, main = ""] = bundle(home, { format: "cjs", minify: true }, "sea.cjs");
  const [config, blob, binary] = ["sea.json", "sea.blob", "sea"].map((name) => path.join(home, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(config, JSON.stringify({ main, output: blob, disableExperimentalSEAWarning: true }));
  execFileSync(node, ["--experimental-sea-config", config], { stdio: "ignore" });
  copyFileSync(realpathSync(node), binary);
  const inject = [binaryOf("postject"), binary, "NODE_SEA_BLOB", blob, "--sentinel-fuse", FUSE];
  execFileSync(process.execPath, inject, { stdio: "ignore" });
  rmSync(main);
  return [binary];
}

/** Compiles the program with Bun. */
export function bun(home: string): readonly string[] {
  const binary = path.join(home, "bun-app");
  const args = ["build", "--compile", SOURCE, "--outfile", binary];
  execFileSync(binaryOf("bun"), args, { cwd: APP, stdio: "ignore" });
  chmodSync(binary, 0o755);
  return [binary];
}

/** True if `deno compile` can work: it downloads its runtime, or finds it at `DENORT_BIN`. */
export function canCompileWithDeno(): boolean {
  const home = createHome();
  try {
    writeFileSync(path.join(home, "empty.mjs"), "");
    return compileWithDeno(home, "empty.mjs").length > 0;
  } catch {
    return false;
  } finally {
    rmSync(home, { recursive: true });
  }
}

function compileWithDeno(home: string, source: string): readonly string[] {
  const args = ["compile", "--allow-all", "--no-check", "--output", "deno-app", source];
  execFileSync(binaryOf("deno"), args, { cwd: home, stdio: "ignore" });
  return [path.join(home, "deno-app")];
}

/** Compiles a bundle of the program with Deno. */
export function deno(home: string): readonly string[] {
  bundle(home, { format: "esm" }, "deno.mjs");
  const command = compileWithDeno(home, "deno.mjs");
  rmSync(path.join(home, "deno.mjs"));
  return command;
}

/** Makes Deno behave as in an executable: it is standalone, and its runtime only starts this program. */
const STANDALONE = (command: string) => `
  Object.defineProperty(Deno, "build", { value: { ...Deno.build, standalone: true } });
  (await import("node:process")).default.execPath = ${JSON.stringify(command)};
  await import("./deno.mjs");
`;

/** The same for a machine that cannot download the runtime: a command that only runs the bundle. */
export function denoStandIn(home: string): readonly string[] {
  const command = path.join(home, "deno-app");
  bundle(home, { format: "esm" }, "deno.mjs");
  writeFileSync(path.join(home, "standalone.mjs"), STANDALONE(command));
  writeFileSync(
    command,
    `#!/bin/sh\nexec ${binaryOf("deno")} run --allow-all --no-prompt ${home}/standalone.mjs "$@"\n`,
  );
  chmodSync(command, 0o755);
  return [command];
}

/** A form of the application. */
interface Form {
  readonly name: string;
  /** Makes it in a folder, and returns the command that runs it. */
  readonly make: (home: string) => readonly string[];
  /** `"inline"` if the form cannot start processes. */
  readonly pool?: "inline";
  /** If the tests of the form are skipped. Defaults to `false`. */
  readonly isSkipped?: boolean;
}

/** Defines the statements as tests of a form, and those about its processes. */
export function describeForm({ name, make, pool, isSkipped = false }: Form): void {
  (isSkipped ? describe.skip : describe)(`one file: ${name}`, () => {
    let home: string;
    let program: LimitedProgram;
    let url: string;
    beforeAll(async () => {
      home = createHome();
      const command = make(home);
      program = LimitedProgram.start(command, home, { FILES: path.join(home, "public"), HOME: home });
      url = await program.said(/Listening on (http:\S+)/);
    });
    afterAll(async () => {
      await program[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true });
    });

    describeStatements(name, () => url, {
      "documentation pages": "the files of Swagger UI are not in the file",
    });

    const get = async (target: string): Promise<unknown> => (await fetch(url + target)).json();

    if (pool === "inline") {
      it("runs non-async handlers inline, with one warning", async () => {
        expect(await get("/where/pool")).toBe(await get("/where/loop"));
        expect(program.output.match(/WARN .*inline.*/g)).toHaveLength(1);
        expect(program.members()).toHaveLength(1);
      });
    } else {
      it("runs non-async handlers in two processes, which start no other", async () => {
        expect(await get("/where/pool")).not.toBe(await get("/where/loop"));
        expect(program.output).toMatch(/INFO .*run in worker processes/);
        expect(program.peak).toBeLessThanOrEqual(3);
      });
    }

    it("logs only the error of the handler that throws", () => {
      expect(program.output.match(/^ERROR .*/gm)).toEqual([expect.stringContaining("secret")]);
    });

    it("ends with its processes", async () => {
      expect(await program.stop()).toBe(0);
      expect(program.members()).toEqual([]);
    });
  });
}

/** The size of a form in MiB. */
export function sizeOf(command: readonly string[]): number {
  return statSync(command.at(-1) ?? "").size / 2 ** 20;
}
