/** Checks the statements on each platform, and writes the results into `docs/platforms.md`: `npm run platforms --prefix framework`. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { checkStatements, type Result, statements } from "../anywhere/_statements.js";
import { createHome, removeHome } from "./_platform.js";
import { platforms } from "./_platforms.js";

const PAGE = path.join(import.meta.dirname, "../../docs/platforms.md");
const [BEGIN, END] = ["<!-- results -->", "<!-- end of results -->"];
const MARKS: Readonly<Record<Result["outcome"], string>> = { passed: "yes", lacks: "–", failed: "**no**" };

const columns: (readonly Result[])[] = [];
for (const platform of platforms) {
  const home = createHome();
  const running = await platform.start(home);
  columns.push(await checkStatements({ ...platform, url: running.url }, statements));
  await running.close();
  removeHome(home);
  const failed = columns.at(-1)?.filter(({ outcome }) => outcome === "failed") ?? [];
  process.stdout.write(`${platform.name}: ${failed.length} failed\n${failed.map(({ reason }) => reason).join("\n")}`);
}

const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
const numbers = platforms.map((_, index) => String(index + 1));
const count = (results: readonly Result[], outcome: Result["outcome"]) =>
  String(results.filter((result) => result.outcome === outcome).length);
const summary = platforms.map(({ name, programs }, index) => {
  const results = columns[index] ?? [];
  return row([numbers[index] ?? "", name, programs, count(results, "passed"), count(results, "failed")]);
});
const reasons = [...new Set(platforms.flatMap(({ lacks }) => Object.values(lacks)))].map((reason) => {
  const having = numbers.filter((_, index) => Object.values(platforms[index]?.lacks ?? {}).includes(reason));
  return `- ${having.join(", ")}: ${reason}.`;
});
const details = statements.map(({ title }, at) =>
  row([title, ...columns.map((results) => MARKS[results[at]?.outcome ?? "failed"])]),
);
const written = [
  BEGIN,
  "",
  row(["", "Platform", "Runs on", "Passed", "Failed"]),
  row(["---", "---", "---", "--:", "--:"]),
  ...summary,
  "",
  "These features are not available:",
  "",
  ...reasons,
  "",
  row(["Statement", ...numbers]),
  row(["---", ...numbers.map(() => "---")]),
  ...details,
  "",
  END,
].join("\n");
const page = readFileSync(PAGE, "utf8");
const [before = ""] = page.split(BEGIN);
const after = page.split(END)[1] ?? "";
writeFileSync(PAGE, before + written + after);
