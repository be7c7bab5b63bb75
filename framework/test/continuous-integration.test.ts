import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";

import { createFolder } from "./support/folder.js";
import { readSeed } from "./support/fast-check.js";

const ROOT = path.join(import.meta.dirname, "../..");
const JEST = path.join(ROOT, "node_modules/jest/bin/jest.js");
const FAST_CHECK = path.join(ROOT, "node_modules/fast-check/lib/fast-check.js");

const FOLDER = createFolder({});

/** Shell code that writes a summary, and fails if it contains failures. */
function write(summary: string): string {
  return `printf '%b\\n' ${JSON.stringify(summary)} > "$TEST_SUMMARY"; exit ${/ [1-9]\d* failed/.test(summary) ? 1 : 0}`;
}

/** On the newest LTS of Node. */
const LTS = "Node 24.1.0: 2 passed, 0 failed, 3 skipped";

/**
 * A `make` that writes these summaries in turn, one for each `make test`, and fails without a summary or if it contains
 * failures. The summary of `make test-lts` is separate.
 */
function createMake(check: number, summaries: readonly string[], lts: string): string {
  const cases = summaries.map((summary, index) => `${index}) ${write(summary)} ;;`);
  return `#!/bin/sh
if [ "$1" = check ]; then exit ${check}; fi
if [ "$1" = test-lts ]; then ${lts === "" ? "exit 1" : write(lts)}; fi
count=$(cat count 2>/dev/null || echo 0)
echo $((count + 1)) > count
case $count in
${cases.join("\n")}
*) exit 1 ;;
esac
`;
}

/** The status and the output of `.ci/run` with that `make`. */
function runIntegration(check: number, summaries: readonly string[], lts = LTS) {
  const folder = mkdtempSync(path.join(FOLDER, "ci-"));
  writeFileSync(path.join(folder, "make"), createMake(check, summaries, lts));
  chmodSync(path.join(folder, "make"), 0o755);
  cpSync(path.join(ROOT, ".ci/run"), path.join(folder, ".ci/run"));
  const PATH = `${folder}:${process.env.PATH}`;
  const { status, stdout } = spawnSync("bash", [".ci/run"], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, PATH },
  });
  const lines = stdout.trimEnd().split("\n");
  return { status, stdout, lines: lines.slice(-3), lastLine: lines.at(-1) };
}

/** Runs Jest with the reporter over these test files, in two workers. */
function runTests(tests: Readonly<Record<string, string>>, environment = "") {
  const folder = mkdtempSync(path.join(FOLDER, "jest-"));
  const files = {
    ...tests,
    "package.json": '{ "type": "module" }',
    "environment.js": `${environment}\nexport { default } from ${JSON.stringify(path.join(ROOT, ".ci/test-environment.js"))};`,
  };
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(path.join(folder, name), content);
  }
  const summaryFile = path.join(folder, "summary");
  const config = {
    rootDir: folder,
    testEnvironment: path.join(folder, "environment.js"),
    testMatch: ["**/*.test.js"],
    transform: {},
    reporters: [path.join(ROOT, ".ci/summary-reporter.js")],
  };
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--experimental-vm-modules", JEST, "--maxWorkers=2", "--config", JSON.stringify(config)],
    { cwd: folder, encoding: "utf8", env: { ...process.env, TEST_COSTS: "", TEST_SUMMARY: summaryFile } },
  );
  return { status, stderr, summary: readFileSync(summaryFile, "utf8") };
}

const PASSES = 'it("passes", () => {});';

describe(".ci/run", () => {
  const failure = "5 passed, 1 failed, 0 skipped\n  a.test.ts › adds (FC_SEED=7)";

  it("succeeds if the check and the tests succeed", () => {
    const { status, lastLine } = runIntegration(0, ["6 passed, 0 failed, 1 skipped"]);
    expect({ status, lastLine }).toEqual({ status: 0, lastLine: "8 passed, 0 failed, 4 skipped" });
  });

  it("fails, and lists the test with its seed as flaky, if it passes when it runs again", () => {
    const { status, stdout, lastLine } = runIntegration(0, [failure, "1 passed, 0 failed, 5 skipped"]);
    expect({ status, lastLine }).toEqual({ status: 1, lastLine: "7 passed, 1 failed, 3 skipped" });
    expect(stdout).toMatch(/Flaky: .*\n {2}a\.test\.ts › adds \(FC_SEED=7\)/);
  });

  it("fails without the word flaky if the test fails again", () => {
    const { status, stdout, lastLine } = runIntegration(0, [failure, "0 passed, 1 failed, 5 skipped"]);
    expect({ status, lastLine }).toEqual({ status: 1, lastLine: "7 passed, 1 failed, 3 skipped" });
    expect(stdout).not.toContain("Flaky");
  });

  it("fails, and counts one failure, if the tests end before they can count", () => {
    const { status, lastLine } = runIntegration(0, []);
    expect({ status, lastLine }).toEqual({ status: 1, lastLine: "2 passed, 1 failed, 3 skipped" });
  });

  it("fails if only the check fails", () => {
    const { status, stdout, lastLine } = runIntegration(1, ["6 passed, 0 failed, 1 skipped"]);
    expect({ status, lastLine }).toEqual({ status: 1, lastLine: "8 passed, 0 failed, 4 skipped" });
    expect(stdout).toContain("make check failed.");
  });

  it("ends with the result of each Node, and their sum", () => {
    const { lines } = runIntegration(0, ["6 passed, 0 failed, 1 skipped"]);
    const first = `Node ${process.versions.node}: 6 passed, 0 failed, 1 skipped`;
    expect(lines).toEqual([first, LTS, "8 passed, 0 failed, 4 skipped"]);
  });

  it.each([
    ["fail", "Node 24.1.0: 1 passed, 1 failed, 3 skipped", "7 passed, 1 failed, 4 skipped"],
    ["do not run", "", "6 passed, 1 failed, 1 skipped"],
  ])("fails if the tests on the newest LTS of Node %s", (_what, lts, sum) => {
    const { status, stdout, lastLine } = runIntegration(0, ["6 passed, 0 failed, 1 skipped"], lts);
    expect({ status, lastLine }).toEqual({ status: 1, lastLine: sum });
    expect(stdout).toContain("make test-lts failed.");
  });

  it("counts the tests once if this Node is the newest LTS", () => {
    const lts = "Node 24.1.0 is the newest LTS, and runs all tests.";
    const { status, lines } = runIntegration(0, ["6 passed, 0 failed, 1 skipped"], lts);
    expect({ status, lines: lines.slice(1) }).toEqual({ status: 0, lines: [lts, "6 passed, 0 failed, 1 skipped"] });
  });
});

describe("the summary of the tests", () => {
  const property = `
    import * as fc from ${JSON.stringify(FAST_CHECK)};
    it("holds", () => fc.assert(fc.property(fc.integer(), () => false), { seed: 42 }));`;

  it("lists a failed property with the seed that repeats it, and a file that cannot be loaded", () => {
    const { status, summary } = runTests({
      "a.test.js": property,
      "b.test.js": PASSES,
      "c.test.js": "import './none.js';",
    });
    expect(status).toBe(1);
    const [count, ...failed] = summary.trimEnd().split("\n");
    expect(count).toBe("1 passed, 2 failed, 0 skipped");
    expect(failed.toSorted()).toEqual(["  a.test.js › holds (FC_SEED=42)", "  c.test.js"]);
  });

  const tests = { "a.test.js": PASSES, "b.test.js": PASSES };

  it("passes if a test sets a flag of V8, and a later file of its worker has the same modules", () => {
    const file = `import v8 from "node:v8";
      import "./shared.js";
      it("passes", () => v8.setFlagsFromString("--expose-gc"));`;
    const { status, summary } = runTests({
      "shared.js": "export const shared = 1;",
      ...Object.fromEntries(["a", "b", "c"].map((name) => [`${name}.test.js`, file])), // for two workers
    });
    expect({ status, summary }).toEqual({ status: 0, summary: "3 passed, 0 failed, 0 skipped\n" });
  });

  it("fails if a worker does not exit", () => {
    const { status, summary } = runTests(tests, "process.on('message', () => {});");
    expect(status).toBe(1);
    expect(summary).toMatch(/^2 passed, 1 failed, 0 skipped\n.*A test worker did not exit: .* pipe/);
  });

  it.each(["exit", "beforeExit"])(
    "passes if a worker ends later than Jest waits, as on a busy machine: %s",
    (event) => {
      const { status, summary } = runTests(
        tests,
        `process.once('${event}', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 800));`,
      );
      expect({ status, summary }).toEqual({ status: 0, summary: "2 passed, 0 failed, 0 skipped\n" });
    },
  );
});

describe("make test-lts", () => {
  const script = readFileSync(path.join(ROOT, ".ci/test-lts.js"), "utf8");
  const tests = [...script.matchAll(/^ {2}"(.+)",$/gm)].map(([, name = ""]) => name);

  it("runs tests that exist, of each folder of tests", () => {
    expect(tests.filter((name) => !existsSync(path.join(ROOT, name)))).toEqual([]);
    const workspaces = ["framework", "generators", "load-tests", "sample-auth-app"];
    const packages = readdirSync(path.join(ROOT, "framework")).map((name) => `framework/${name}`);
    const folders = [...workspaces, ...packages.filter((name) => name !== "framework/test")]
      .map((name) => `${name}/test/`)
      .filter((folder) => existsSync(path.join(ROOT, folder)));
    expect(folders.filter((folder) => !tests.some((name) => name.startsWith(folder)))).toEqual([]);
  });

  it("only reports that this Node is the newest LTS, if it is", () => {
    const folder = mkdtempSync(path.join(FOLDER, "lts-"));
    const file = path.join(folder, "test-lts.mjs");
    const summary = path.join(folder, "summary");
    const { node } = process.versions;
    writeFileSync(file, script.replace(/const LTS = "\d+"/, `const LTS = "${node.split(".")[0]}"`));
    const env = { ...process.env, TEST_SUMMARY: summary };
    const { status, stdout } = spawnSync(process.execPath, [file], { encoding: "utf8", env });
    expect({ status, stdout }).toEqual({ status: 0, stdout: `Node ${node} is the newest LTS, and runs all tests.\n` });
    expect(readFileSync(summary, "utf8")).toBe(stdout);
  });
});

describe("the order of the tests", () => {
  const longest = JSON.parse(readFileSync(path.join(ROOT, ".ci/longest-tests.json"), "utf8")) as string[];

  it("names files that exist", () => {
    expect(longest.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
  });

  it("has them first in a clean clone, which knows no times of earlier runs", () => {
    const [first = "", second = ""] = longest;
    const files = ["/small", `/${second}`, `/${"large".repeat(99)}`, `/${first}`];
    const script = `
      import Sequencer from ${JSON.stringify(path.join(ROOT, ".ci/test-sequencer.js"))};
      const context = { config: { cache: false }, hasteFS: { getSize: (file) => file.length } };
      const tests = ${JSON.stringify(files)}.map((path) => ({ path, context }));
      console.log(JSON.stringify(new Sequencer({}).sort(tests).map((test) => test.path)));`;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
    expect(JSON.parse(stdout)).toEqual([files[3], files[1], files[2], files[0]]);
  });
});

describe("FC_SEED", () => {
  it("is the seed of every property", () => {
    expect([readSeed("-42"), readSeed(""), readSeed(undefined)]).toEqual([-42, undefined, undefined]);
  });

  it("is rejected if it is not an integer", () => {
    expect(() => readSeed("4x")).toThrow('FC_SEED must be an integer, but is "4x".');
  });
});
