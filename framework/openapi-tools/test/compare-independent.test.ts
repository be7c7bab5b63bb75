import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { installOnDemand, IS_SLOW } from "../../test/support/on-demand.js";
import { type Pair, PAIRS } from "./_contract-changes.js";

/** The verdict of openapi-diff by title; `null` if it rejects one of the documents, such as 3.1. */
type Verdicts = Readonly<Record<string, string | null>>;

/**
 * In a separate process, because it loads modules in a way that jest does not support. It supports only OpenAPI 3.0.
 */
const DIFF = `
  const { diffSpecs } = require("openapi-diff");
  const chunks = [];
  process.stdin.on("data", (chunk) => chunks.push(chunk)).on("end", async () => {
    const verdicts = {};
    for (const { title, before, after } of JSON.parse(Buffer.concat(chunks).toString())) {
      const spec = (document, location) => ({
        content: JSON.stringify({ ...document, openapi: "3.0.3" }), location, format: "openapi3",
      });
      const found = await diffSpecs({
        sourceSpec: spec(before, "before.json"), destinationSpec: spec(after, "after.json"),
      }).catch(() => null);
      verdicts[title] = found && (found.breakingDifferencesFound ? "breaking"
        : found.nonBreakingDifferences.length > 0 ? "addition"
        : found.unclassifiedDifferences.length > 0 ? "unclassified" : "neutral");
    }
    process.stdout.write(JSON.stringify(verdicts));
  });
`;

const ANY_VALUE = "It takes the earlier schema at its word, by which any value fitted at a name that it did not know.";
const NO_EFFECT = "It counts as wider. The values that clients send there have no effect any more.";

/** Pairs on which the two differ, and the reason for our result. */
const DIFFERENCES: Readonly<Record<string, readonly [theirs: string, reason: string]>> = {
  "a body is no longer read": ["addition", NO_EFFECT],
  "a property of a request is removed": ["addition", NO_EFFECT],
  "an optional body is added": ["breaking", ANY_VALUE],
  "an optional property is added to a request": ["breaking", ANY_VALUE],
  "a success is added": ["addition", "Clients that know one status of success meet another one."],
  "an error is removed": ["breaking", "No client needs an error. Every status of success is kept."],
  "readOnly properties of a request change": ["breaking", "It does not read `readOnly`: clients do not send them."],
  "writeOnly properties of an answer change": ["breaking", "It does not read `writeOnly`: they are not sent."],
  "an answer says that it has no further properties": [
    "addition",
    "An answer of ours has none, and documents say so only where a request has the same component.",
  ],
};

/** Tells if it looked at the change: it has no rule for parameters, security, formats, patterns and lists of values. */
function isDecided({ kind, title }: Pair, verdicts: Verdicts): boolean {
  const verdict = verdicts[title];
  return verdict !== null && verdict !== "unclassified" && (verdict !== "neutral" || kind === "neutral");
}

const slowly = IS_SLOW ? describe : describe.skip;

slowly("a comparison of two documents and the result of openapi-diff", () => {
  let verdicts: Verdicts;

  beforeAll(async () => {
    const home = installOnDemand("contract-tools", ["openapi-diff@0.24.1"]);
    const child = spawn(process.execPath, ["--eval", DIFF], { cwd: home, stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.end(JSON.stringify(PAIRS));
    verdicts = JSON.parse(await text(child.stdout)) as Verdicts;
  });

  it("agree if both decide, except for the listed differences", () => {
    const decided = PAIRS.filter((pair) => isDecided(pair, verdicts));
    expect(decided.length).toBeGreaterThan(70);
    const differing = decided.filter(({ kind, title }) => verdicts[title] !== kind);
    expect(Object.fromEntries(differing.map(({ title }) => [title, verdicts[title]]))).toEqual(
      Object.fromEntries(Object.entries(DIFFERENCES).map(([title, [theirs]]) => [title, theirs])),
    );
  });
});
