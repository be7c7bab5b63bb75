/** The matrix of `docs/conformance.md`: the result of each subject for each statement. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  applicationStatements,
  type Area,
  type CheckResult,
  checkApplication,
  checkServer,
  serverStatements,
  type Statement,
} from "../src/index.js";
import { applications, middlewares, type NamedApplication } from "./_applications.js";
import { DIVERGENCES } from "./_divergences.js";
import { servers, type ServerSubject } from "./_servers.js";

export const PAGE = path.join(import.meta.dirname, "../../docs/conformance.md");
export const RECORD = path.join(import.meta.dirname, "recorded.json");

/** The outcome of one check. `differs`: on purpose, for a reason on the page. */
export type Cell = "yes" | "no" | "differs" | "not applicable";

/** One column: a subject, and a cell for each statement by its identifier. */
export interface Column {
  readonly name: string;
  readonly cells: Readonly<Record<string, Cell>>;
  /** Why statements do not apply. */
  readonly reasons: readonly string[];
}

/** The part of a result that a cell is made of. */
export type AnyResult = Pick<CheckResult<never>, "passed" | "notApplicable" | "error"> & {
  readonly statement: { readonly id: string };
};

function toCell({ passed, notApplicable, statement: { id } }: AnyResult): Cell {
  if (notApplicable !== undefined) return "not applicable";
  if (passed) return "yes";
  return id in DIVERGENCES ? "differs" : "no";
}

/** A column of the results of a run. */
export function toColumn(name: string, results: readonly AnyResult[]): Column {
  const reasons = results.flatMap(({ notApplicable }) => notApplicable ?? []);
  return {
    name,
    cells: Object.fromEntries(results.map((result) => [result.statement.id, toCell(result)])),
    reasons: [...new Set(reasons)],
  };
}

const runs = new Map<ServerSubject | NamedApplication, Promise<AnyResult[]>>();

/** Runs the checks of a subject the first time that it is asked for them. */
export function runOnce(subject: ServerSubject | NamedApplication): Promise<AnyResult[]> {
  const run =
    runs.get(subject) ??
    ("start" in subject ? checkServer(subject.start, subject.lacks) : checkApplication(subject.app, subject.paths));
  runs.set(subject, run);
  return run;
}

async function columnsOf(subjects: readonly (ServerSubject | NamedApplication)[]): Promise<Column[]> {
  const columns: Column[] = [];
  for (const subject of subjects) columns.push(toColumn(subject.name, await runOnce(subject)));
  return columns;
}

/** The columns of the subjects that run everywhere. All middleware is one column. */
export async function toColumns(): Promise<{ onServers: Column[]; onApplications: Column[] }> {
  const rows: AnyResult[] = [];
  for (const middleware of middlewares) rows.push(...(await runOnce(middleware)));
  const { cells } = toColumn(
    "",
    rows.toSorted((left, right) => Number(right.passed) - Number(left.passed)),
  );
  const onApplications = [...(await columnsOf(applications)), { name: "middleware", cells, reasons: [] }];
  return { onServers: await columnsOf(servers), onApplications };
}

/** The columns of servers on other runtimes, as the last slow run has written them. */
export function recordedColumns(): Column[] {
  return JSON.parse(readFileSync(RECORD, "utf8")) as Column[];
}

const SIGNS: Readonly<Record<Cell, string>> = {
  yes: "yes",
  no: "**no**",
  differs: "[differs](#differences)",
  "not applicable": "–",
};

/** The sections of ASGI that statements are of, in the order of their numbers on the page. */
const SOURCES = [...new Set([...serverStatements, ...applicationStatements].map(({ source }) => source))];

const TITLES: Readonly<Record<Area, string>> = { http: "HTTP", websocket: "WebSocket", lifespan: "Lifespan" };

function table(statements: readonly Statement<never>[], columns: readonly Column[]): string {
  const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    row(["Statement", ...columns.map(({ name }) => name)]),
    row(["---", ...columns.map(() => ":-:")]),
    ...statements.map(({ id, level, rule, source }) =>
      row([
        `${rule} [${level}][${SOURCES.indexOf(source) + 1}]`,
        ...columns.map(({ cells }) => SIGNS[cells[id] ?? "no"]),
      ]),
    ),
  ].join("\n");
}

function tables(statements: readonly Statement<never>[], columns: readonly Column[]): string {
  const areas = Object.entries(TITLES).map(([area, title]) => {
    const rows = statements.filter((statement) => statement.area === area);
    return `### ${title}\n\n${table(rows, columns)}`;
  });
  const reasons = columns
    .filter(({ reasons: list }) => list.length > 0)
    .map(({ name, reasons: list }) => `- **${name}**: ${list.join("; ")}.`);
  return [...areas, `A dash is a statement that does not apply:\n\n${reasons.join("\n")}`].join("\n\n");
}

function differences(): string {
  return Object.entries(DIVERGENCES)
    .map(([id, reason]) => {
      const { rule = "" } = [...serverStatements, ...applicationStatements].find((known) => known.id === id) ?? {};
      return `- ${rule} ${reason}`;
    })
    .join("\n");
}

/** The page with the results of a run. The text between the lists is written by hand. */
export function renderPage(onServers: readonly Column[], onApplications: readonly Column[]): string {
  const parts: Readonly<Record<string, string>> = {
    applications: `${tables(applicationStatements, onApplications).replaceAll("### ", "### Applications: ")}\n\nThe middleware: ${middlewares.map(({ name }) => `\`${name}\``).join(", ")}, each around an application that keeps all.`,
    servers: tables(serverStatements, onServers).replaceAll("### ", "### Servers: "),
    differences: differences(),
    sources: SOURCES.map((source, index) => `[${index + 1}]: ${source}`).join("\n"),
  };
  let page = readFileSync(PAGE, "utf8");
  for (const [name, text] of Object.entries(parts)) {
    const written = new RegExp(`(<!-- ${name} -->)[^]*(<!-- end of ${name} -->)`);
    page = page.replace(written, (_all, begin: string, end: string) => `${begin}\n\n${text}\n\n${end}`);
  }
  return page;
}

/** Text without the padding of its tables. */
export function unpadded(text: string): string {
  return text.replaceAll(/ +/g, " ").replaceAll(/-{2,}/g, "-").replaceAll(/:-+:/g, ":-:");
}

/** Writes the page of a run. */
export async function writePage(): Promise<void> {
  const { onServers, onApplications } = await toColumns();
  writeFileSync(PAGE, renderPage([...onServers, ...recordedColumns()], onApplications));
}
