/** The measured requests, the expected responses, and their check. @module */
import { isDeepStrictEqual } from "node:util";

/** One request and its expected response. */
export interface Example {
  /** Its name in tables and errors. */
  readonly name: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Header lines in addition to those of the client and of the body; empty by default. */
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON text, sent as `application/json`; `null` for a request without a body. */
  readonly body: string | null;
  /**
   * The status of the response; `"refused"` for any of 400 to 499, because frameworks use different ones for an invalid
   * body.
   */
  readonly status: number | "refused";
  /** The JSON body of the response, `null` if it is not compared. */
  readonly answer: Readonly<Record<string, unknown>> | null;
}

/** The response. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

const ADA = { name: "Ada Lovelace", email: "ada@example.org", age: 36 };
const BOB = { name: "Bob", email: "bob@example.org", age: 0 };

/** The three routes of the reference protocol. */
export const EXAMPLES: readonly Example[] = [
  get("GET /health", "/health", 200, { status: "ok" }),
  get("GET /users/{id}", "/users/42", 200, { id: "42" }),
  created("POST /users", ADA, ADA),
];

/** Header lines as Chromium 141 sends them for a page's own request, with the cookies of a session: 1 KiB with the client's. */
const BROWSER_HEADERS: Readonly<Record<string, string>> = {
  "sec-ch-ua": '"Google Chrome";v="141", "Not?A_Brand";v="8", "Chromium";v="141"',
  "sec-ch-ua-mobile": "?0",
  "sec-ch-ua-platform": '"Linux"',
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
  accept: "application/json, text/plain, */*",
  "accept-encoding": "gzip, deflate, br, zstd",
  "accept-language": "en-GB,en;q=0.9,de;q=0.8",
  referer: "https://shop.example.org/products/lamps?page=2&sort=price",
  origin: "https://shop.example.org",
  dnt: "1",
  priority: "u=1, i",
  "sec-fetch-dest": "empty",
  "sec-fetch-mode": "cors",
  "sec-fetch-site": "same-origin",
  "x-requested-with": "XMLHttpRequest",
  cookie: `session=${"0123456789abcdef".repeat(20)}; theme=dark; consent=necessary`,
};

/** Over a socket there is one more: a request with a head as long as a browser's. */
export const SOCKET_EXAMPLES: readonly Example[] = [
  ...EXAMPLES,
  {
    ...get("GET /users/{id} with 1 KB of header lines", "/users/42", 200, { id: "42" }),
    headers: BROWSER_HEADERS,
  },
];

/** Untimed requests that prove the work of a contender: it validates, cuts and refuses, and does not just echo. */
export const PROOFS: readonly Example[] = [
  get("another user's id", "/users/ada", 200, { id: "ada" }),
  created("another user", BOB, BOB),
  created("a key that the struct does not name", { ...ADA, admin: true }, ADA),
  refused("a string instead of an integer", { ...ADA, age: "old" }),
  refused("a fraction instead of an integer", { ...ADA, age: 36.5 }),
  refused("a negative age", { ...ADA, age: -1 }),
  refused("an empty name", { ...ADA, name: "" }),
  refused("a missing field", { name: "Ada", age: 36 }),
  refused("null instead of a string", { ...ADA, email: null }),
  refused("a body that is not an object", "Ada"),
  get("a path without a route", "/nowhere", 404, null),
];

function get(name: string, path: string, status: number, answer: Example["answer"]): Example {
  return { name, method: "GET", path, body: null, status, answer };
}

function post(name: string, body: unknown): Pick<Example, "name" | "method" | "path" | "body"> {
  return { name, method: "POST", path: "/users", body: JSON.stringify(body) };
}

function created(name: string, body: unknown, kept: Readonly<Record<string, unknown>>): Example {
  return { ...post(name, body), status: 201, answer: { id: 1, ...kept } };
}

function refused(name: string, body: unknown): Example {
  return { ...post(name, body), status: "refused", answer: null };
}

/** Returns the error of a response, in one line, or `null` if it is right. */
export function faultOf(example: Example, answer: Answer): string | null {
  const { status } = example;
  const rightStatus = status === "refused" ? answer.status >= 400 && answer.status < 500 : answer.status === status;
  if (!rightStatus) {
    return `${example.name}: expected the status ${status}, got ${answer.status} ${answer.body.slice(0, 200)}`;
  }
  if (example.answer === null) return null;
  if (!/^application\/json\b/.test(answer.contentType)) {
    return `${example.name}: expected application/json, got ${JSON.stringify(answer.contentType)}`;
  }
  if (!isDeepStrictEqual(parseJSON(answer.body), example.answer)) {
    return `${example.name}: expected ${JSON.stringify(example.answer)}, got ${answer.body.slice(0, 200)}`;
  }
  return null;
}

/** Parses JSON; `undefined` for anything else. */
export function parseJSON(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
