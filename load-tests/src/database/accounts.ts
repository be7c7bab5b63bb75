/** The login and the listing of the sample application, reduced, and the checks of their answers. @module */
import { type Case, parseJSON, type Reply } from "../suite/case.js";

const USERNAME = "user7";
const FORM = { "content-type": "application/x-www-form-urlencoded" };
/** The threads that Node has for hashes. */
const HASHES = 4;
/** The first page of the account's items: those with every hundredth id. */
const PAGE = JSON.stringify(
  Array.from({ length: 20 }, (_, index) => ({ id: 6 + 100 * index, name: `item ${6 + 100 * index}`, owner: USERNAME })),
);
const COOKIE = ["refresh_token=", "Max-Age=", "Path=/auth", "HttpOnly", "SameSite=Strict"];

const logInWith = (password: string): Case => ({
  name: "POST /auth/token",
  method: "POST",
  path: "/auth/token",
  headers: FORM,
  body: new URLSearchParams({ username: USERNAME, password }).toString(),
  status: 200,
  share: 0.002, // a hash is 20 ms of work
  connections: HASHES,
  isConstant: false,
  check: checkLogin,
});

const listWith = (token: string): Case => ({
  name: "GET /items",
  method: "GET",
  path: "/items",
  headers: { authorization: `Bearer ${token}` },
  body: null,
  status: 200,
  share: 0.15,
  isConstant: true,
  check: ({ body }) =>
    JSON.stringify(parseJSON(body)) === PAGE ? null : `expected 20 items of ${USERNAME}, got ${body.slice(0, 200)}`,
});

/** A login with the right password. */
export const LOGIN = logInWith("a password of 100 users");

/** The routes, the listing with a token of a login. */
export const accountCases = (token: string): readonly Case[] => [LOGIN, listWith(token)];

const refused = (one: Case, name: string): Case => ({
  ...one,
  name: `${one.name} ${name}`,
  status: 401,
  check: () => null,
});

/** Requests that must be refused, once each. */
export const REFUSALS: readonly Case[] = [
  refused(logInWith("another"), "with a wrong password"),
  refused(listWith("no.good.token"), "with a wrong token"),
];

/** True for a row of the login or the listing. */
export function isAccountRow(row: string): boolean {
  return row.startsWith(LOGIN.name) || row.startsWith("GET /items");
}

/** The access token of a login's answer; empty where there is none. */
export function tokenOf(body: string): string {
  const answer = parseJSON(body);
  return isLogin(answer) ? answer.access_token : "";
}

function checkLogin({ headers, body }: Reply): string | null {
  if (!isGood(tokenOf(body))) return `expected a token of ${USERNAME}, got ${body.slice(0, 200)}`;
  const cookie = headers["set-cookie"] ?? "";
  const missing = COOKIE.find((part) => !cookie.toLowerCase().includes(part.toLowerCase()));
  return missing === undefined ? null : `expected ${missing} in the cookie, got ${cookie}`;
}

function isLogin(value: unknown): value is { access_token: string; token_type: "bearer" } {
  if (typeof value !== "object" || value === null || Object.keys(value).length !== 2) return false;
  return (
    "access_token" in value &&
    typeof value.access_token === "string" &&
    "token_type" in value &&
    value.token_type === "bearer"
  );
}

/** Looks at the claims. The listing shows that the signature is good. */
function isGood(token: string): boolean {
  const [, claims = ""] = token.split(".");
  const value = parseJSON(Buffer.from(claims, "base64url").toString());
  if (typeof value !== "object" || value === null || !("sub" in value) || !("exp" in value)) return false;
  return value.sub === USERNAME && typeof value.exp === "number" && value.exp * 1_000 > Date.now();
}
