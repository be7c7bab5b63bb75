import { readdirSync, readFileSync, existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { buildSync } from "esbuild";
import { findPostgreSQL, POSTGRESQL_URL } from "./sample-auth-app/test/repository/support/find-postgresql.js";

const FRAMEWORK = path.join(import.meta.dirname, "framework");

/** The packages of the framework that have tests. */
const packages = readdirSync(FRAMEWORK).filter((name) => existsSync(path.join(FRAMEWORK, name, "test")));

/** Each entry point of a package with its source: `tsgi/web` is `core/src/platforms/web/index.ts`. */
function sourcesOf(folder) {
  const { name, exports = {} } = JSON.parse(readFileSync(path.join(FRAMEWORK, folder, "package.json"), "utf8"));
  return Object.entries(exports).flatMap(([entry, { default: file }]) =>
    file === undefined
      ? []
      : [
          [
            `^${path.posix.join(name, entry)}$`,
            path.join(FRAMEWORK, folder, file.replace("./dist/", "src/").replace(/\.js$/, ".ts")),
          ],
        ],
  );
}

/** TypeBox in one file: each test file that imports the core would load its 200 modules again. */
function bundleTypeBox() {
  const from = path.join(import.meta.dirname, "node_modules/@sinclair/typebox");
  const { version } = JSON.parse(readFileSync(path.join(from, "package.json"), "utf8"));
  const outfile = path.join(import.meta.dirname, `.cache/typebox-${version}.js`);
  if (!existsSync(outfile)) {
    buildSync({ entryPoints: [path.join(from, "build/esm/index.mjs")], bundle: true, format: "esm", outfile });
  }
  return outfile;
}

/** The tests of a package see the sources of all of them, so that each class is there once. */
const SOURCES = { ...Object.fromEntries(packages.flatMap(sourcesOf)), "^@sinclair/typebox$": bundleTypeBox() };

/** The tests of every workspace run as one jest call, so that one summary counts them all. */
const project = (folder, displayName, sources = {}) => ({
  displayName,
  rootDir: import.meta.dirname,
  roots: [`<rootDir>/${folder}/test`],
  testMatch: ["**/*.test.ts"],
  testEnvironment: "<rootDir>/.ci/test-environment.js",
  extensionsToTreatAsEsm: [".ts"],
  moduleNameMapper: sources,
  resolver: "<rootDir>/.ci/resolver.js",
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      // Source maps in the text are three quarters of it, which each test file would read again.
      { jsc: { target: "es2022", parser: { syntax: "typescript" } }, module: { type: "es6" }, sourceMaps: true },
    ],
  },
});

/** The tests of the sample application that state how SQL, transactions and unique columns behave. */
const OF_DATABASE = ["app", "concurrency", "provider", "refresh-tokens", "routes/items"];

/**
 * The sample application's tests again on PostgreSQL: those that depend on the database, and in `make test-all` all except
 * those that specify a database themselves, or do not use one.
 */
const onPostgreSQL = (url) => ({
  ...project("sample-auth-app", "sample-auth-app on PostgreSQL"),
  testMatch:
    process.env.TSGI_SLOW === undefined ? OF_DATABASE.map((name) => `**/repository/${name}.test.ts`) : ["**/*.test.ts"],
  testPathIgnorePatterns: [
    "/test/repository/database/",
    "/test/repository/(browser|client|config|dev|docker|live|passwords|replicas|server|specification|statements|throttle|tokens|worker)",
  ],
  globals: { TEST_DATABASE_URL: url },
});

export default async () => {
  const postgreSQL = await findPostgreSQL();
  if (postgreSQL === null) {
    const place = POSTGRESQL_URL.replace(/:[^:@/]*@/, ":***@");
    process.stderr.write(`${place} does not respond: the sample application's tests run only on SQLite.\n`);
  }
  return {
    projects: [
      project("framework", "framework", SOURCES),
      ...packages.map((name) => project(`framework/${name}`, name, SOURCES)),
      project("sample-auth-app", "sample-auth-app"),
      ...(postgreSQL === null ? [] : [onPostgreSQL(postgreSQL)]),
      project("load-tests", "load-tests"),
      project("generators", "generators"),
    ],
    reporters: ["default", "<rootDir>/.ci/summary-reporter.js"],
    testSequencer: "<rootDir>/.ci/test-sequencer.js",
    // Test files wait for servers and processes: with one worker per core, the cores are idle for a quarter of the time.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    // Node keeps about 35 MB of each test file that a worker has run, and a new worker takes 1 s of processor time. At
    // 1.5 GB the end of the process takes longer than the 500 ms that Jest waits for it.
    workerIdleMemoryLimit: "768MB",
    // No test depends on the clock: the limit ends tests that hang, and is long enough for a busy machine.
    testTimeout: 300_000,
  };
};
