import { basename, dirname, resolve } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { parseArguments } from "../src/arguments.js";
import { UsageError } from "../src/errors.js";
import { helpText } from "../src/help.js";
import { flags } from "../src/options.js";

const unset = { yes: false, force: false, dryRun: false, json: false, help: false, version: false };

/** The message with which a command line is refused. */
function refusal(argv: readonly string[], environment: Record<string, string> = {}): string {
  try {
    parseArguments(argv, environment);
  } catch (error) {
    if (error instanceof UsageError) {
      return error.message;
    }
    throw error;
  }
  return "";
}

describe("the command line", () => {
  it.each([
    [[], {}],
    [["my-app"], { name: "my-app" }],
    [["my-app", "--yes"], { name: "my-app", yes: true }],
    [["help"], { name: "help", help: true }],
    [["help", "--yes"], { name: "help", yes: true }],
    [["my-router"], { name: "my-router" }],
    [["notes"], { name: "notes" }],
    [["-y", "my-app"], { name: "my-app", yes: true }],
    [["--", "my-app"], { name: "my-app" }],
    [["--template", "auth"], { template: "auth" }],
    [["--template=auth"], { template: "auth" }],
    [["--into", "/tmp/x"], { into: "/tmp/x" }],
    [["--into=-x"], { into: "-x" }],
    [["--install", "--no-git"], { install: true, git: false }],
    [["--no-install", "--git"], { install: false, git: true }],
    [["--template", "api", "--database=postgresql"], { template: "api", database: "postgresql" }],
    [["--no-docker", "--load-tests", "--no-ci"], { docker: false, loadTests: true, ci: false }],
    [["--package-manager", "pnpm", "--json"], { packageManager: "pnpm", json: true }],
    [["--force", "--dry-run"], { force: true, dryRun: true }],
    [["../apps/shop"], { name: "shop", into: resolve("../apps") }],
    [["./shop/"], { name: "shop", into: process.cwd() }],
    [["/srv/shop"], { name: "shop", into: "/srv" }],
    [["apps/shop", "--into", "/srv"], { name: "shop", into: "/srv/apps" }],
    [["."], { name: basename(process.cwd()), into: dirname(process.cwd()) }],
    [[".", "--into=/srv/shop"], { name: "shop", into: "/srv" }],
    [["@acme/shop"], { name: "@acme/shop" }],
    [["-h"], { help: true }],
    [["-v"], { version: true }],
  ])("reads %j", (argv, expected) => {
    expect(parseArguments(argv, {})).toEqual({ ...unset, ...expected });
  });

  it.each([
    [["--frobnicate"], 'unknown flag "--frobnicate"'],
    [["-x"], 'unknown flag "-x"'],
    [["-yx"], 'unknown flag "-x"'],
    [["--no-yes"], 'unknown flag "--no-yes"'],
    [["--__proto__"], 'unknown flag "--__proto__"'],
    [["--__proto__=1"], 'unknown flag "--__proto__"'],
    [["--template", "nope"], '--template "nope" is unknown; write one of auth'],
    [["--template", "__proto__"], '--template "__proto__" is unknown'],
    [["--database", "mysql"], '--database "mysql" is unknown; write one of sqlite, postgresql'],
    [["--package-manager", "bun"], '--package-manager "bun" is unknown; write one of npm, pnpm, yarn'],
    [["--docker", "--no-docker"], "--docker and --no-docker contradict"],
    [["--template"], "--template needs a value"],
    [["--into="], "--into needs a value"],
    [["--into", "--yes"], "--into needs a value"],
    [["--yes=no"], "--yes takes no value"],
    [["--into", "a", "--into", "b"], "--into is given twice"],
    [["--install", "--no-install"], "--install and --no-install contradict"],
    [["my-app", "auth"], 'unexpected argument "auth" after the name "my-app"'],
    [["my-app", "--", "--yes"], '"--yes" follows a "--" that is not needed here'],
    [["../X"], '"X" is not an npm name: it has capital letters; a project has the name of its folder'],
    [["/"], "the name is empty; a project has the name of its folder"],
    [["@acme/a/b"], "is a path, not an npm name"],
    [["Name"], "capital letters"],
    [[""], "the name is empty"],
  ])("rejects %j", (argv, message) => {
    expect(refusal(argv)).toContain(message);
  });

  it("reports invalid input on one line", () => {
    for (const argv of [["a\nb"], ["--x\ny"], ["--template", "a\nb"], ["a", "b\nc"], ["x".repeat(300)]]) {
      expect(refusal(argv)).toMatch(/^.{1,200}$/);
    }
  });

  it("lists every flag in the help text", () => {
    for (const { name } of flags) {
      expect(helpText()).toContain(`--${name}`);
    }
  });

  it("suggests npm's -- for a second argument", () => {
    expect(refusal(["my-app", "auth"])).toContain("npm create tsgi my-app -- ");
  });
});

describe("a flag that npm took as its own", () => {
  // As npm 10 and 11 pass on `npm create tsgi my-app FLAG`.
  it.each([
    ["npm_config_dry_run", "true", "--dry-run"],
    ["npm_config_template", "auth", "--template"],
    ["npm_config_into", "true", "--into"],
    ["npm_config_install", "", "--no-install"],
    ["npm_config_install", "true", "--install"],
    ["npm_config_git", "false", "--no-git"],
    ["npm_config_database", "postgresql", "--database"],
    ["npm_config_package_manager", "pnpm", "--package-manager"],
    ["npm_config_docker", "", "--no-docker"],
    ["npm_config_load_tests", "", "--no-load-tests"],
    ["npm_config_ci", "true", "--ci"],
    ["npm_config_json", "true", "--json"],
  ])("is rejected if %s is %j", (variable, value, flag) => {
    const message = refusal(["my-app"], { npm_command: "init", [variable]: value });
    expect(message).toContain(`npm took ${flag} as its own flag`);
    expect(message).toContain("npm create tsgi my-app -- ");
  });

  it("is accepted when it arrived too, outside npm, or as npm's own option", () => {
    expect(refusal(["a", "--dry-run"], { npm_command: "init", npm_config_dry_run: "true" })).toBe("");
    expect(refusal(["a"], { npm_config_dry_run: "true" })).toBe("");
    expect(refusal(["a"], { npm_command: "init", npm_config_git: "/usr/bin/git" })).toBe("");
    expect(refusal(["a"], { npm_command: "init", npm_config_dry_run: "" })).toBe("");
  });

  it("is taken over when it is --yes, from npm create and not from npx", () => {
    expect(parseArguments(["a"], { npm_command: "init", npm_config_yes: "true" }).yes).toBe(true);
    expect(parseArguments(["a"], { npm_command: "init", npm_config_yes: "" }).yes).toBe(false);
    expect(parseArguments(["a"], { npm_command: "exec", npm_config_yes: "true" }).yes).toBe(false);
  });
});
