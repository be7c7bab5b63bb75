import { describe, expect, it } from "@jest/globals";
import { environmentForNpm } from "../src/npm-flags.js";

describe("the environment of an npm that is started in the project", () => {
  it("does not contain the variables that the outer npm set for its own run", () => {
    const ofThisRun = {
      npm_command: "init",
      npm_lifecycle_event: "npx",
      npm_package_json: "/elsewhere/package.json",
      npm_config_local_prefix: "/elsewhere",
      npm_config_workspace: "framework",
      npm_config_dry_run: "true",
      npm_config_force: "true",
    };
    expect(environmentForNpm(ofThisRun)).toEqual({});
  });

  it("keeps the settings of the user: registry, cache, proxy, path", () => {
    const own = {
      PATH: "/bin",
      npm_config_registry: "http://127.0.0.1:4873",
      npm_config_cache: "/tmp/cache",
      npm_config_userconfig: "/home/x/.npmrc",
      https_proxy: "http://127.0.0.1:3128",
    };
    expect(environmentForNpm(own)).toEqual(own);
  });
});
