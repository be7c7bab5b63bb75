import { describe, expect, it } from "@jest/globals";
import { environmentForNpm } from "../src/npm-flags.js";

describe("the environment of an npm that is started in the project", () => {
  it("is without what the npm around set for its own run", () => {
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

  it("keeps what the user has set: registry, cache, proxy, path", () => {
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
