/** The examples of the page of errors: below the heading of a code, the rejected code and the accepted one. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { type Block, blocksOf } from "./_blocks.js";

/** Names that an example can use without declaring them. */
const BEFORE = `
import {
  App, Body, Depends, File, Form, Header, Path, Query, Request, Router, sse, StaticFiles, t, WebSocket, withParams,
} from "tsgi";
import { installLoop } from "tsgi/concurrency";
import {
  clearSession, compress, cors, csrf, httpMiddleware, httpsRedirect, memoryStore, requestId, securityHeaders, sessions, timeLimit,
  trustedHost,
} from "tsgi/middleware";
import { serve } from "tsgi/node";
import { Page } from "tsgi/pagination";
import { Jobs } from "@tsgi/jobs";
import { idempotent, openPrisma, transactionOf } from "@tsgi/prisma";
import { toLambda, toLambdaStream } from "@tsgi/lambda";
import { AccessTokens } from "@tsgi/oauth";
import { ApiKeys, prismaKeys, type RawClient } from "@tsgi/api-keys";
import { StreamLog } from "@tsgi/broadcast";
import { redisStore } from "@tsgi/redis";
import { loadSettings } from "tsgi/settings";
import { APIKeyHeader, APIKeyQuery, HTTPBasic, HTTPBearer, OAuth2PasswordBearer } from "tsgi/security";
const app = new App();
const router = new Router();
async function readItem() { return null; }
async function listItems() { return []; }
async function getUser() { return "ada"; }
async function openDatabase() { return openPrisma<RawClient>({ url: "file:./shop.db" }); }`;

/** An example. The wrong ones are no TypeScript: it would refuse most of them before they run. */
export interface Example {
  /** The heading above it. */
  readonly code: string;
  readonly isRight: boolean;
  readonly block: Block;
}

/** The examples of a page: the parts of its `js` blocks below the lines `// Wrong` and `// Right`. */
export function examplesOf(page: string, text: string): Example[] {
  const lines = text.split("\n");
  return blocksOf(page, text)
    .filter(({ language }) => language === "js")
    .flatMap((block) => {
      const heading = lines.slice(0, block.line).findLast((line) => line.startsWith("### ")) ?? "";
      return partsOf(block).map(({ line, code, isRight }) => ({
        code: heading.slice("### ".length),
        isRight,
        block: { ...block, language: "ts", line, code, before: isRight ? BEFORE : `// @ts-nocheck${BEFORE}` },
      }));
    });
}

function partsOf({ code, line }: Block): { line: number; code: string; isRight: boolean }[] {
  const lines = code.split("\n");
  const starts = lines.flatMap((text, index) => (/^\/\/ (Wrong|Right)$/.test(text) ? [index] : []));
  return starts.map((start, index) => ({
    line: line + start,
    code: lines.slice(start, starts[index + 1]).join("\n"),
    isRight: lines[start] === "// Right",
  }));
}

const RUNNER = `
const codes = [];
for (const file of process.argv.slice(1)) {
  codes.push(await import(file).then(() => null, (error) => error.code ?? String(error)));
}
process.stdout.write("\\n" + JSON.stringify(codes), () => process.exit());`;

/** The variables that the applications of the examples read. */
export const VARIABLES = { PORT: "0", SESSION_SECRET: "a secret of the examples, 32 bytes and more" };

/**
 * Runs compiled examples, each in a separate module, ignoring their output. The codes of their errors, `null` for those
 * that do not throw.
 */
export async function run(files: readonly string[]): Promise<(string | null)[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", RUNNER, ...files], {
    timeout: 60_000,
    env: { ...process.env, ...VARIABLES },
  });
  return JSON.parse(stdout.slice(stdout.lastIndexOf("\n"))) as (string | null)[];
}

const MARK = "--- a mark between programs ---";

const PROGRAMS = `
const files = process.argv.slice(1);
process.on("beforeExit", () => {
  const file = files.shift();
  if (file === undefined) return;
  console.log("${MARK}");
  setImmediate(() => import(file)); // Since Node 22, an import alone does not keep the process alive.
});`;

/**
 * Runs compiled programs one after the other in one process: a program starts after the one before has ended. The
 * output of each.
 */
export async function outputsOf(
  files: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", PROGRAMS, ...files], {
    timeout: 60_000,
    env: { ...process.env, ...variables },
  });
  return stdout.split(`${MARK}\n`).slice(1);
}
