/** `tsgi doctor`: looks for what commonly goes wrong, and says what to do about it. @module */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { EXIT, showError } from "./errors.js";
import { findModule } from "./find-module.js";
import { loadTsgiApp } from "./load-app.js";
import { findTypeScriptLoader, isTypeScript } from "./typescript.js";

/** One thing that was looked at. */
interface Finding {
  mark: "ok" | "note" | "fault";
  subject: string;
  text: string;
}

const SIGNS = { ok: "✓", note: "!", fault: "✗" } as const;

/** Prints a line for each finding; exit code 1 when one is a fault. */
export async function doctor(module: string | undefined): Promise<void> {
  const findings = [...checkNode(), checkLoop(), ...checkTypeScript(), ...(await checkApp(module))];
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  for (const { mark, subject, text } of findings) {
    process.stdout.write(`${SIGNS[mark]} ${subject.padEnd(width)}  ${text}\n`);
  }
  if (findings.some(({ mark }) => mark === "fault")) process.exitCode = EXIT.failed;
}

function checkNode(): Finding[] {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const isNewEnough = major > 20 || (major === 20 && minor >= 19);
  const version: Finding = isNewEnough
    ? { mark: "ok", subject: "Node", text: node }
    : { mark: "fault", subject: "Node", text: `${node} is too old. Install 20.19 or later.` };
  const type = readJSON("package.json")?.["type"];
  if (type === "module") return [version];
  const text = 'package.json lacks "type": "module", so that .js and .ts files count as CommonJS. Add it.';
  return [version, { mark: "note", subject: "modules", text }];
}

function checkLoop(): Finding {
  if (process.platform !== "linux") return { mark: "ok", subject: "loop", text: "libuv" };
  try {
    createRequire(path.resolve("package.json"))("uWebSockets.js");
    return {
      mark: "ok",
      subject: "loop",
      text: "uWebSockets.js loads and is used; --loop libuv forces the standard one",
    };
  } catch (error) {
    const isMissing = (error as { code?: string }).code === "MODULE_NOT_FOUND";
    return isMissing
      ? { mark: "ok", subject: "loop", text: "libuv (uWebSockets.js is not installed, which is fine)" }
      : {
          mark: "note",
          subject: "loop",
          text: `libuv: uWebSockets.js does not load. ${showError(error).split("\n")[0]}`,
        };
  }
}

function checkTypeScript(): Finding[] {
  const loader = findTypeScriptLoader(process.cwd());
  const names = { tsx: "tsx", node: "Node itself, which strips types only: no enums, and imports end in .ts" };
  const runs: Finding = loader
    ? { mark: "ok", subject: "TypeScript", text: `run by ${names[loader.name]}` }
    : { mark: "note", subject: "TypeScript", text: "cannot be run as it is: npm install --save-dev tsx" };
  if (!existsSync("tsconfig.json")) return [runs];
  const text = readFileSync("tsconfig.json", "utf8");
  if (/"strict"\s*:\s*true|"extends"/.test(text)) return [runs];
  return [
    runs,
    { mark: "note", subject: "tsconfig", text: 'without "strict": true the types of parameters are vague. Add it.' },
  ];
}

async function checkApp(module: string | undefined): Promise<Finding[]> {
  try {
    const file = findModule(module);
    const { app, shownFile } = await loadTsgiApp(file);
    const count = app.routes.length;
    const found: Finding = { mark: "ok", subject: "application", text: `${shownFile}: ${count} routes` };
    app.openapi();
    const described: Finding = { mark: "ok", subject: "OpenAPI", text: "the document can be made" };
    const plain = app.endpoints.filter(({ plan }) => !plan.handler.isAsync);
    if (plain.length === 0) return [found, described];
    const names = plain.map(({ record }) => `${record.method} ${record.path}`).join(", ");
    const pool: Finding = {
      mark: "note",
      subject: "pool",
      text: `plain handlers, which run in a pool of processes: ${names}. Make them async unless they compute for long.`,
    };
    return [found, described, pool, ...(isTypeScript(file) ? [builtFirst()] : [])];
  } catch (error) {
    return [{ mark: "fault", subject: "application", text: showError(error) }];
  }
}

function builtFirst(): Finding {
  return { mark: "note", subject: "pool", text: "each worker compiles the TypeScript again: build before production" };
}

function readJSON(file: string): Record<string, unknown> | null {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  } catch {
    return null;
  }
}
