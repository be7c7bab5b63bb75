/** Types the commands of a page about a platform, from the creation of its project to a request. */
import { execFile, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

import { type Block, stepsOf } from "../docs/_blocks.js";
import { isAsShown, runSteps } from "../docs/_console.js";
import { LimitedProgram } from "../support/limited-program.js";
import { binaryOf, installOnDemand, IS_SLOW } from "../support/on-demand.js";
import { linkPackages, writeCommands } from "./_project.js";

const run = promisify(execFile);

/** The programs of blocks that only run with `TSGI_SLOW`, by the word after the language. */
const PROGRAMS: Readonly<Record<string, () => Readonly<Record<string, readonly string[]>>>> = {
  bun: () => ({ bun: [binaryOf("bun")] }),
  deno: () => ({ deno: [binaryOf("deno")] }),
  slow: () => ({}),
  wrangler: () => {
    const home = installOnDemand("wrangler", ["wrangler@4.164.0"]);
    return { wrangler: [binaryOf("node24"), path.join(home, "node_modules/wrangler/bin/wrangler.js")] };
  },
};

const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;

/** True if a block cannot run here: it needs an account, a program, or more time than the tests have. */
function isSkipped({ words }: Block): boolean {
  if (words.includes("account") || (words.includes("kubectl") && !hasKubectl)) return true;
  return !IS_SLOW && words.some((word) => word in PROGRAMS);
}

/** The command that creates a project, with its name and its flags. */
const CREATION = /^npm create tsgi (\S+)(?: -- (.*))?$/gm;

/** The flags of the first project that blocks create. */
export function flagsOf(blocks: readonly Block[]): readonly string[] {
  const [, , flags = ""] =
    [
      ...blocks
        .map(({ code }) => code)
        .join("\n")
        .matchAll(CREATION),
    ][0] ?? [];
  return flags.split(" ").filter((flag) => flag !== "");
}

/** Lets `wrangler dev` select a port, which is 8000 in a project. */
function useFreePort(project: string): void {
  const file = path.join(project, "wrangler.jsonc");
  writeFileSync(file, readFileSync(file, "utf8").replace('"port": 8000', '"port": 0'));
}

/** A shell in a folder with a project, and the server that the last command started. */
export class Terminal implements AsyncDisposable {
  readonly #bin: string;
  readonly #home: string;
  #folder: string;
  #server: LimitedProgram | undefined;

  /**
   * @param home - A folder for its programs. The first commands run in its folder `work`, which has the project.
   */
  constructor(home: string) {
    this.#home = home;
    this.#folder = path.join(home, "work");
    this.#bin = path.join(home, "bin");
    writeCommands(this.#bin, { npx: [] });
  }

  /** The folder of the last command. */
  get folder(): string {
    return this.#folder;
  }

  /** Types a block, if it can run here. Returns the steps whose output is not as shown. */
  async type(block: Block): Promise<object[]> {
    if (block.language === "console") return this.#request(block);
    await this.#stop();
    if (isSkipped(block)) return [];
    for (const word of block.words) writeCommands(this.#bin, PROGRAMS[word]?.() ?? {});
    if (block.words.includes("serves")) {
      if (block.words.includes("wrangler")) useFreePort(this.#folder);
      this.#server = new LimitedProgram(["sh", "-c", `exec ${block.code}`], this.#folder, this.#env);
    } else {
      await this.#execute(block.code);
    }
    return [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }

  get #env(): NodeJS.ProcessEnv {
    const { NODE_OPTIONS: _options, ...env } = process.env;
    const programs = [this.#bin, path.join(this.#folder, "node_modules/.bin"), env["PATH"]];
    return { ...env, HOME: this.#home, PORT: "0", PATH: programs.join(":"), CI: "1" };
  }

  /** Runs commands. The projects of `npm create tsgi` are there already. */
  async #execute(code: string): Promise<void> {
    const script = code.replaceAll(CREATION, "test -d $1");
    const mark = "--- the folder ---";
    const { stdout } = await run("sh", ["-e", "-c", `${script}\necho "${mark}"; pwd`], {
      cwd: this.#folder,
      env: this.#env,
    });
    this.#folder = stdout.slice(stdout.lastIndexOf(mark) + mark.length).trim();
    linkPackages(this.#folder);
  }

  async #request(block: Block): Promise<object[]> {
    if (this.#server === undefined) return [];
    const address = await this.#server.said(/(?:127\.0\.0\.1|localhost):\d+/);
    const steps = stepsOf(block);
    const outputs = await runSteps(steps, address, this.#folder);
    return steps
      .map((step, index) => ({ ...step, answer: outputs[index] ?? "" }))
      .filter(({ output, answer }) => !isAsShown(answer, output));
  }

  async #stop(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    this.#server = undefined;
  }
}
