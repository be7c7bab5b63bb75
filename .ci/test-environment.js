import hooks from "node:async_hooks";
import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setFlagsFromString } from "node:v8";
import vm from "node:vm";

import { TestEnvironment } from "jest-environment-node";

import { keepCompiledCode } from "./compile-cache.js";
import { processorSeconds } from "./processor-time.js";

/** Time for servers and processes that a test has stopped to be gone: on a busy machine seconds. */
const GRACE_MS = 20_000;

/**
 * Node 20 optimizes code that little of a test file runs again: at fifteen times its number of steps before that, test files
 * take a fifth less processor time. Later versions count calls, and do not have this flag.
 */
if (process.version.startsWith("v20.")) setFlagsFromString("--interrupt-budget=1000000");

/**
 * Compilers and linters in Go, which tests start, collect garbage at four times the default growth: the tests of types and
 * of clients take a tenth less processor time (24.5 and 22.1 s).
 */
process.env.GOGC ??= "400";
/** Workers use all cores already: one thread for each compiler takes another fifteenth (132.0 and 123.2 s). */
process.env.GOMAXPROCS ??= "1";

/**
 * Jest ends a worker by removing its listener, and the process ends unless a handle keeps it alive: then the reporter
 * finds this file. `report` also lists the handles of native code.
 */
function reportHandles() {
  const file = path.join(process.env.TEST_WORKERS, process.env.JEST_WORKER_ID);
  const left = process.report.getReport().libuv.filter((handle) => handle.is_active && handle.is_referenced);
  if (left.length > 0) writeFileSync(file, left.map(({ type }) => type).join(", "));
  else rmSync(file, { force: true });
}
if (process.env.TEST_WORKERS && process.send) {
  process.on("removeListener", (event) => event === "message" && reportHandles());
}

keepCompiledCode();

const storages = new Set();

/**
 * Node 20 and 22 process each used instance for each promise, until the instance is disabled: in a worker with the
 * instances of 40 test files, this takes a tenth of the processor time. From Node 22 on, the member is a getter.
 */
class AsyncLocalStorage extends hooks.AsyncLocalStorage {
  constructor(...options) {
    super(...options);
    storages.add(this);
  }
}
Object.defineProperty(hooks, "AsyncLocalStorage", { value: AsyncLocalStorage });

/**
 * Node's environment for tests, which fails a file that leaves a handle open – a server, a socket, a timer, a child
 * process – or whose code throws after its tests. Jest itself warns, kills the worker, and passes.
 */
export default class StrictEnvironment extends TestEnvironment {
  #before = new Map();
  #folder = process.cwd();
  #lateErrors = [];
  #hasFailed = false;
  #file;
  /** Processor time at the start, if it is measured (`test-costs.js`). */
  #start = process.env.TEST_COSTS ? processorSeconds() : 0;
  #onLateError = (error) => this.#lateErrors.push(error);

  /**
   * Jest's global object is a Proxy, which each use of `Math` or `Buffer` in the code under test asks: a parser of 16
   * MiB takes 6.4 s of processor time instead of 0.9 s, and tests of parameters 10.6 s instead of 8.4 s. Here it is the
   * `Function` of an ordinary context.
   */
  constructor(config, context) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(config, context);
    } finally {
      vm.createContext = createContext;
    }
    // Jest's 100 frames are collected for each error and each `expect`.
    this.global.Error.stackTraceLimit = 20;
    this.#file = path.relative(config.globalConfig.rootDir, context.testPath);
  }

  async setup() {
    await super.setup();
    // Jest reads every member of a Node module that a package imports: reading node:process opens the standard input,
    // which would keep a worker alive.
    process.stdin.unref?.();
    this.#before = countResources();
    process.on("exit", failOnExit);
    // While the tests themselves run, jest has its own listeners in the place of these.
    process.on("uncaughtException", this.#onLateError);
    process.on("unhandledRejection", this.#onLateError);
  }

  /** A test that fails may leave things running: its own error is the one to show. */
  handleTestEvent({ name }) {
    this.#hasFailed ||= name === "test_fn_failure" || name === "hook_failure" || name === "error";
  }

  async teardown() {
    const deadline = Date.now() + GRACE_MS;
    let left = this.#leftovers();
    while (left.length > 0 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      left = this.#leftovers();
    }
    await super.teardown();
    // The next test file in this worker begins where this one did.
    process.chdir(this.#folder);
    if (process.env.TEST_COSTS) this.#reportCost(process.env.TEST_COSTS);
    for (const storage of storages) storage.disable();
    storages.clear();
    process.off("exit", failOnExit);
    process.off("uncaughtException", this.#onLateError);
    process.off("unhandledRejection", this.#onLateError);
    if (this.#lateErrors.length > 0) {
      throw new Error("The tests of this file were over when this was thrown.", { cause: this.#lateErrors[0] });
    }
    if (left.length > 0 && !this.#hasFailed) {
      throw new Error(`The tests of this file are over, but these still run: ${left.join(", ")}. Stop them in a hook.`);
    }
  }

  #reportCost(to) {
    const seconds = processorSeconds() - this.#start;
    appendFileSync(to, `${JSON.stringify({ file: this.#file, seconds })}\n`);
  }

  #leftovers() {
    return [...countResources()]
      .filter(([name, count]) => count > (this.#before.get(name) ?? 0))
      .map(([name, count]) => `${name} (${count - (this.#before.get(name) ?? 0)})`);
  }
}

/** Counts by name what keeps this process alive. */
function countResources() {
  const counts = new Map();
  for (const name of process.getActiveResourcesInfo()) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** A test that calls `process.exit(0)` would end the whole run as a success. */
function failOnExit() {
  process.exitCode = 1;
}
