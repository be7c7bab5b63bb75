/** Checks the statements inside each host, and writes the results into `docs/coexistence.md`: `npm run hosts --prefix framework`. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { checkHost, type HostResult } from "./_check.js";
import { hosts } from "./_hosts.js";
import { hostStatements } from "./_statements.js";

const PAGE = path.join(import.meta.dirname, "../../docs/coexistence.md");
const [BEGIN, END] = ["<!-- results -->", "<!-- end of results -->"];
const MARKS: Readonly<Record<HostResult["outcome"], string>> = { passed: "yes", lacks: "–", failed: "**no**" };

const columns: Awaited<ReturnType<typeof checkHost>>[] = [];
for (const host of hosts) {
  const column = await checkHost(host);
  columns.push(column);
  const failed = [...column.own, ...column.general].filter(({ outcome }) => outcome === "failed");
  process.stdout.write(
    `${host.name}: ${failed.length} failed\n${failed.map(({ title, reason }) => `${title}: ${reason}\n`).join("")}`,
  );
}

const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
const numbers = hosts.map((_, index) => String(index + 1));
const count = (results: readonly HostResult[], outcome: HostResult["outcome"]) =>
  String(results.filter((result) => result.outcome === outcome).length);
const summary = hosts.map(({ name, packages }, index) => {
  const { own = [], general = [] } = columns[index] ?? {};
  const all = [...own, ...general];
  const programs =
    packages.length === 0
      ? `Node ${process.versions.node}`
      : packages
          .slice(0, 2)
          .map((one) => `\`${one}\``)
          .join(", ");
  return row([numbers[index] ?? "", name, programs, count(all, "passed"), count(all, "failed")]);
});
const reasons = [...new Set(hosts.flatMap(({ lacks }) => Object.values(lacks)))].map((reason) => {
  const having = numbers.filter((_, index) => Object.values(hosts[index]?.lacks ?? {}).includes(reason));
  return `- ${having.join(", ")}: ${reason}.`;
});
const details = hostStatements.map(({ title }, at) =>
  row([title, ...columns.map(({ own }) => MARKS[own[at]?.outcome ?? "failed"])]),
);
const written = [
  BEGIN,
  "",
  row(["", "Host", "Runs on", "Passed", "Failed"]),
  row(["---", "---", "---", "--:", "--:"]),
  ...summary,
  "",
  "“–” means that the host does not have the feature:",
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
process.exit(); // hosts keep timers
