/** Copies of a database file of SQLite. @module */
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createTable } from "../idempotency-store.js";
import { applyMigrations } from "../migrations.js";
import { openSQLite } from "../sqlite-client.js";
import { CREATE_JOBS } from "@tsgi/transactions/testing/internals";
import { type Copy, type Original, templateOf } from "./copies.js";

/** The folders of copies contain the id of their process, so that a later process finds the copies of killed ones. */
const FOLDER = /^tsgi-sandbox-(\d+)-/;

/** Makes a copy of the template next to the configured file, and the template if it is missing or stale. */
export async function copySQLite(opening: Original): Promise<Copy> {
  removeLeft();
  const template = await makeTemplate(opening);
  const folder = mkdtempSync(path.join(tmpdir(), `tsgi-sandbox-${process.pid}-`));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  const file = path.join(folder, "copy.db");
  vacuumInto(openSQLite(template), file);
  const copy = openSQLite(pathToFileURL(file).href);
  copy.exec("PRAGMA journal_mode = WAL"); // as the migrations set it
  copy.close();
  return {
    config: { ...opening.config, url: pathToFileURL(file).href },
    drop: async () => {
      process.removeListener("exit", remove);
      remove();
    },
  };
}

/** Copies a database into one file, without a write-ahead log, and closes it. */
function vacuumInto(connection: ReturnType<typeof openSQLite>, file: string): void {
  try {
    connection.exec(`VACUUM INTO '${file.replaceAll("'", "''")}'`);
  } finally {
    connection.close();
  }
}

/** @returns The URL of the template. Processes that make it at the same time replace it by the same content. */
async function makeTemplate(opening: Original): Promise<string> {
  const { driver, config, migrations } = opening;
  const { dir, name, ext } = path.parse(fileURLToPath(new URL(config.url, pathToFileURL("./"))));
  const file = path.join(dir, `${name}_template${ext}`);
  const url = pathToFileURL(file).href;
  const version = versionOf(opening);
  if (existsSync(file) && readVersion(url) === version) return url;
  const unfinished = mkdtempSync(path.join(dir, `${name}_template_`));
  const built = path.join(unfinished, "template.db");
  try {
    const builtConfig = { ...config, url: pathToFileURL(built).href };
    await applyMigrations(driver, builtConfig, migrations);
    const connection = openSQLite(builtConfig.url);
    for (const statement of [...createTable("BLOB"), CREATE_JOBS]) connection.exec(statement);
    connection.exec(`PRAGMA user_version = ${version}`);
    const whole = path.join(unfinished, "whole.db");
    vacuumInto(connection, whole);
    renameSync(whole, file);
  } finally {
    rmSync(unfinished, { recursive: true });
  }
  return url;
}

/** A number of 31 bits that identifies the migrations, in the file itself. */
const versionOf = (opening: Original) => Number.parseInt(templateOf(opening).slice(0, 8), 16) >>> 1;

function readVersion(url: string): number {
  const connection = openSQLite(url);
  try {
    return (connection.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
  } finally {
    connection.close();
  }
}

function removeLeft(): void {
  for (const name of readdirSync(tmpdir())) {
    const [, pid] = FOLDER.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) {
      rmSync(path.join(tmpdir(), name), { recursive: true, force: true });
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === "EPERM";
  }
}
