/** The tests of every workspace run as one jest call, so that one summary counts them all. */
const project = (folder, displayName) => ({
  displayName,
  rootDir: import.meta.dirname,
  roots: [`<rootDir>/${folder}/test`],
  testMatch: ["**/*.test.ts"],
  testEnvironment: "<rootDir>/.ci/test-environment.js",
  extensionsToTreatAsEsm: [".ts"],
  moduleNameMapper: { "^(\\.{1,2}/.*)\\.js$": ["$1.js", "$1.ts"] },
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { target: "es2022", parser: { syntax: "typescript" } }, module: { type: "es6" }, sourceMaps: "inline" },
    ],
  },
});

export default {
  projects: [
    project("framework", "framework"),
    project("sample-auth-app", "sample-auth-app"),
    project("load-tests", "load-tests"),
    project("generators", "generators"),
  ],
  reporters: ["default", "<rootDir>/.ci/summary-reporter.js"],
  maxWorkers: "100%",
};
