/** The routes of the reference protocol, asked by a page of another origin. @module */
import { EXAMPLES, type Example, faultOf } from "../examples.js";
import type { Case, Reply } from "../suite/case.js";

/** The origin whose pages may read the answers. */
export const ORIGIN = "https://shop.example.org";

/** The security headers of every server: by default they send between 4 and 12, of 150 to 700 bytes. */
export const SECURITY_HEADERS = {
  "content-security-policy": "default-src 'self'",
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "SAMEORIGIN",
} as const;

const WANTED: Readonly<Record<string, string | RegExp>> = {
  ...SECURITY_HEADERS,
  "access-control-allow-origin": ORIGIN,
  vary: "Origin",
  "x-request-id": /^[\w.:+/=@-]{8,128}$/,
};

/** Written by the servers without any middleware. */
const PLAIN: ReadonlySet<string> = new Set(["content-type", "content-length", "date", "connection", "keep-alive"]);

/** The three routes. */
export const MIDDLEWARE_CASES: readonly Case[] = EXAMPLES.map(toCase);

function toCase(example: Example): Case {
  const { name, method, path, body } = example;
  const headers = { origin: ORIGIN, ...(body === null ? {} : { "content-type": "application/json" }) };
  const check = ({ status, headers: answered, body: text }: Reply): string | null =>
    faultOf(example, { status, contentType: answered["content-type"] ?? "", body: text }) ?? faultOfHeaders(answered);
  return { name, method, path, headers, body, status: Number(example.status), share: 1, isConstant: true, check };
}

function faultOfHeaders(headers: Reply["headers"]): string | null {
  const wrong = Object.entries(WANTED).find(([name, wanted]) => !isWanted(headers[name] ?? "", wanted));
  if (wrong !== undefined) {
    const [name, wanted] = wrong;
    return `expected the header ${name} to be ${String(wanted)}, got ${JSON.stringify(headers[name] ?? null)}`;
  }
  const extra = Object.keys(headers).find((name) => WANTED[name] === undefined && !PLAIN.has(name));
  return extra === undefined ? null : `expected no header ${extra}, which the other servers do not send`;
}

function isWanted(value: string, wanted: string | RegExp): boolean {
  return typeof wanted === "string" ? value === wanted : wanted.test(value);
}
