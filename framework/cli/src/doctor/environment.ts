/** The surroundings of the application: Node, the loop, the project's files, the environment. @module */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { type EnvFiles, loadEnvFile } from "../env-file.js";
import { showError } from "../errors.js";
import { findTypeScriptLoader } from "../typescript.js";
import { type Finding, fault, note, ok } from "./finding.js";

export function checkNode(): Finding {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const isNewEnough = major > 20 || (major === 20 && minor >= 19);
  return isNewEnough ? ok("Node", node) : fault("Node", `${node} is too old. Install 20.19 or later.`);
}

export function checkLoop(): Finding {
  if (process.platform !== "linux") return ok("loop", "libuv");
  const { dependencies = {}, optionalDependencies = {} } = readManifest();
  const isWanted = DRIVER in dependencies || DRIVER in optionalDependencies;
  const driver = isWanted ? findDriver() : null;
  if (driver === null) return ok("loop", "libuv (@tsgi/uwebsockets is not installed, which is fine)");
  try {
    createRequire(driver)("uWebSockets.js");
    return ok("loop", "uWebSockets.js loads and is used; --loop libuv forces the standard one");
  } catch (error) {
    return note("loop", `libuv: uWebSockets.js does not load. ${showError(error).split("\n")[0]}`);
  }
}

const DRIVER = "@tsgi/uwebsockets";

/** The file of the driver of the other loop in this project, or `null`. */
function findDriver(): string | null {
  try {
    return createRequire(path.resolve("package.json")).resolve(DRIVER);
  } catch {
    return null;
  }
}

/** The members of a `package.json` that are read. */
interface Manifest {
  type?: string;
  scripts?: Record<string, string>;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/** Checks `package.json`, including packages that a production installation would lack. */
export function* checkManifest(): Generator<Finding> {
  const manifest = readManifest();
  if (manifest.type !== "module") {
    yield note("modules", 'package.json lacks "type": "module", so that .js and .ts files count as CommonJS. Add it.');
  }
  const isOnlyForDevelopment = (name: string) =>
    manifest.devDependencies?.[name] !== undefined && manifest.dependencies?.[name] === undefined;
  if (isOnlyForDevelopment("tsgi")) {
    yield note(
      "packages",
      "tsgi is in devDependencies, which `npm ci --omit=dev` leaves out. Move it to dependencies.",
    );
  }
  if (isOnlyForDevelopment("tsx") && /\.[cm]?ts\b/.test(manifest.scripts?.["start"] ?? "")) {
    yield note(
      "packages",
      "npm start runs TypeScript through tsx, which is in devDependencies: `npm ci --omit=dev` leaves it out. " +
        "Compile first, and start the .js.",
    );
  }
}

/** Checks the loader of TypeScript and its configuration; returns no findings in a project without either. */
export function* checkTypeScript(isUsed: boolean): Generator<Finding> {
  const config = readConfig();
  if (isUsed || config !== null) yield checkLoader();
  if (config !== null) yield* checkConfig(config);
}

/** The text of `tsconfig.json` without the lines that are comments, of which `tsc --init` writes many. */
function readConfig(): string | null {
  if (!existsSync("tsconfig.json")) return null;
  return readFileSync("tsconfig.json", "utf8").replaceAll(/^\s*\/\/.*$/gm, "");
}

function checkLoader(): Finding {
  const loader = findTypeScriptLoader(process.cwd());
  const names = { tsx: "tsx", node: "Node itself, which strips types only: no enums, and imports end in .ts" };
  return loader
    ? ok("TypeScript", `run by ${names[loader.name]}`)
    : note("TypeScript", "cannot be run as it is: npm install --save-dev tsx");
}

function* checkConfig(config: string): Generator<Finding> {
  if (!/"strict"\s*:\s*true|"extends"/.test(config)) {
    yield note("tsconfig", 'without "strict": true the types of parameters are vague. Add it.');
  }
  const target = /"target"\s*:\s*"(es(?:[356]|201[56]))"/i.exec(config)?.[1];
  if (target !== undefined) {
    const text = `"target": "${target}" compiles async functions to other ones, which then run in the pool. Write "es2022".`;
    yield note("tsconfig", text);
  }
}

/** Reads `.env`, unless flags of the command name other files of variables. */
export function* readEnvironment({ paths }: EnvFiles): Generator<Finding> {
  const isFile = statSync(".env", { throwIfNoEntry: false })?.isFile() ?? false; // a folder may be an environment of Python
  if (paths.length > 0 || !isFile) return;
  loadEnvFile(".env");
  yield ok("environment", "with .env, which other commands read only with --env-file .env");
}

/** Variables that commonly hold the key of signatures. */
const KEYS = ["SECRET_KEY", "SESSION_SECRET", "JWT_SECRET", "COOKIE_SECRET"];

/** A key as documentation shows it, the one of FastAPI's tutorial among them. */
const PUBLISHED =
  /change.?me|insecure|placeholder|your.?secret|^09d25e094faa6ca2556c818166b7a9563b93f7099f6f0f4caa6cf63b88e8d3e7$/i;

/** HMAC with SHA-256 takes a key as long as its output (RFC 7518 §3.2). */
const MIN_KEY_BYTES = 32;

/** Checks variables whose values have no effect, or are weak. */
export function* checkVariables(): Generator<Finding> {
  const mode = process.env["NODE_ENV"] ?? "";
  if (mode !== "production" && /^\W*prod/i.test(mode)) {
    yield note("environment", `NODE_ENV is ${JSON.stringify(mode)}; what programs ask for is exactly "production".`);
  }
  for (const name of KEYS) {
    const problem = problemOfKey(process.env[name]);
    if (problem !== null) yield weakKey("environment", `${name} ${problem}: an attacker who guesses it can sign.`);
  }
}

/** Tells if a variable commonly holds the key of signatures. */
export function isKey(name: string): boolean {
  return KEYS.includes(name);
}

/** Reports a key that has its default. */
export function defaultKey(name: string): Finding {
  return weakKey("settings", `${name} has its default: everyone who has read the source can sign.`);
}

function weakKey(subject: string, text: string): Finding {
  const found = process.env["NODE_ENV"] === "production" ? fault : note;
  return found(subject, `${text} openssl rand -base64 48`);
}

function problemOfKey(key: string | undefined): string | null {
  if (key === undefined || key === "") return null;
  if (PUBLISHED.test(key)) return "is one that documentation shows";
  const bytes = Buffer.byteLength(key);
  return bytes < MIN_KEY_BYTES ? `has ${bytes} bytes, fewer than ${MIN_KEY_BYTES}` : null;
}

function readManifest(): Manifest {
  try {
    return JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
  } catch {
    return {};
  }
}
