import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { serve } from "../../core/src/node.js";
import { KeptLog } from "../support/kept-log.js";
import { Reference, WITHOUT_FASTAPI } from "./_reference.js";
import { createApp } from "./app.js";
import { compare, type Difference } from "./compare.js";
import { REQUESTS, TALKS } from "./requests.js";

const PAGE = path.resolve(import.meta.dirname, "../../docs/fastapi-differences.md");

const withFastAPI = WITHOUT_FASTAPI === null ? describe : describe.skip;

/** Files that are as old in each run. */
async function createFolder(): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), "tsgi-comparison-"));
  const folder = path.join(root, "static");
  await mkdir(path.join(folder, "sub"), { recursive: true });
  const files = { "secret.txt": "secret", "static/data.txt": "0123456789", "static/sub/index.html": "<p>sub</p>" };
  for (const [name, text] of Object.entries(files)) {
    await writeFile(path.join(root, name), text);
    await utimes(path.join(root, name), 1_700_000_000, 1_700_000_000);
  }
  return folder;
}

/** Each `name: part` that the page lists, as often as it does. */
function readListed(page: string): string[] {
  return [...page.matchAll(/^- (.+): ([a-z, -]+)$/gm)].flatMap(([, name = "", parts = ""]) =>
    parts.split(", ").map((part) => `${name}: ${part}`),
  );
}

const show = ({ name, part, theirs, ours }: Difference) =>
  `${name}: ${part}\n    FastAPI ${theirs}\n    ours    ${ours}`;

withFastAPI(`the responses of FastAPI${WITHOUT_FASTAPI === null ? "" : ` (${WITHOUT_FASTAPI})`}`, () => {
  let found: Difference[] = [];
  let listed: string[] = [];
  let page = "";
  let folder = "";

  beforeAll(async () => {
    folder = await createFolder();
    await using reference = await Reference.start(folder);
    const ours = await serve(createApp(folder), { port: 0, signals: false, logger: new KeptLog() });
    found = await compare(reference.url, ours.url);
    await ours.close();
    page = await readFile(PAGE, "utf8");
    listed = readListed(page);
  });

  afterAll(() => rm(path.dirname(folder), { recursive: true, force: true }));

  it("are compared by more than sixty different requests, each with a separate name", () => {
    const names = [...REQUESTS, ...TALKS].map(({ name }) => name);
    expect(names.length).toBeGreaterThan(60);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => /[|;()]/.test(name))).toEqual([]);
    expect(page).toContain(`${REQUESTS.length} requests and ${TALKS.length} conversations`);
  });

  it("differ only as the page describes", () => {
    const unlisted = found.filter(({ name, part }) => !listed.includes(`${name}: ${part}`));
    expect(unlisted.map(show)).toEqual([]);
  });

  it("differ in every way that the page describes, once each", () => {
    const real = new Set(found.map(({ name, part }) => `${name}: ${part}`));
    expect(listed.filter((entry) => !real.has(entry))).toEqual([]);
    expect(listed.filter((entry, index) => listed.indexOf(entry) !== index)).toEqual([]);
  });
});
