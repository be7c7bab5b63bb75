/** The routes on a database, after TechEmpower's, and the checks of their responses. @module */
import { parseJSON } from "../examples.js";
import type { Case, Reply } from "../http/case.js";

/** A row of the table `world`. */
export interface World {
  readonly id: number;
  readonly randomnumber: number;
}

/** The rows of `world`, and the largest number in one. */
const WORLDS = 10_000;
/** The rows of the responses with many. */
const MANY = 20;

const SCRIPT = /&lt;script&gt;alert\((?:&quot;|&#34;|&#x22;)This should not be displayed/;

/** The routes after TechEmpower's, in the order of the table. */
export const DATABASE_CASES: readonly Case[] = [
  get("GET /db", "/db", checkWorld),
  get(`GET /queries, ${MANY} queries`, `/queries?queries=${MANY}`, checkWorlds),
  get(`GET /updates, ${MANY} updates`, `/updates?queries=${MANY}`, checkWorlds),
  { ...get("GET /fortunes", "/fortunes", checkFortunes), isConstant: true },
];

/** The case whose rows must be found in the database afterwards. */
export const [, , UPDATES] = DATABASE_CASES as readonly [Case, Case, Case, Case];

function get(name: string, path: string, check: Case["check"]): Case {
  const faultOf = (reply: Reply): string | null => (reply.status === 200 ? check(reply) : `got ${reply.status}`);
  const named = (reply: Reply): string | null => {
    const fault = faultOf(reply);
    return fault === null ? null : `${name}: ${fault}`;
  };
  return { name, method: "GET", path, headers: {}, body: null, isConstant: false, check: named };
}

function checkWorld({ body }: Reply): string | null {
  return isWorld(parseJSON(body)) ? null : `expected a row in range, got ${body.slice(0, 200)}`;
}

function checkWorlds({ body }: Reply): string | null {
  return worldsOf(body).length === MANY ? null : `expected ${MANY} different rows in range, got ${body.slice(0, 200)}`;
}

/** The different rows of a response; empty if one is out of range. */
export function worldsOf(body: string): readonly World[] {
  const rows = parseJSON(body);
  if (!Array.isArray(rows) || !rows.every(isWorld)) return [];
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

/** Returns the row of a response that differs in the database, or `null`. */
export function faultOfStored(answered: readonly World[], stored: readonly World[]): string | null {
  const numbers = new Map(stored.map(({ id, randomnumber }) => [id, randomnumber]));
  const lost = answered.find(({ id, randomnumber }) => numbers.get(id) !== randomnumber);
  return lost === undefined ? null : `the row ${lost.id} was in a response but was not stored`;
}

function isWorld(value: unknown): value is World {
  if (typeof value !== "object" || value === null || Object.keys(value).length !== 2) return false;
  return "id" in value && isInRange(value.id) && "randomnumber" in value && isInRange(value.randomnumber);
}

function isInRange(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= WORLDS;
}

/** Thirteen rows in the order of their messages; what looks like a script is text. */
function checkFortunes({ headers, body }: Reply): string | null {
  if (!/^text\/html\b/.test(headers["content-type"] ?? "")) return "expected text/html";
  const messages = [...body.matchAll(/<tr><td>\d+<\/td><td>(.*?)<\/td><\/tr>/g)].map(([, message = ""]) => message);
  if (messages.length !== 13) return `expected 13 rows, got ${messages.length}`;
  if (body.includes("<script") || !SCRIPT.test(body)) return "expected the script to be escaped";
  if (!body.includes("フレームワークのベンチマーク")) return "expected UTF-8";
  const plain = messages.map((message) => message.replaceAll("&lt;", "<"));
  return plain.every((message, index) => index === 0 || (plain[index - 1] ?? "") < message)
    ? null
    : "expected the rows in the order of their messages";
}
