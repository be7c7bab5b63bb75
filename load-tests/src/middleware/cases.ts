/** The routes of the reference protocol, asked by a page of another origin. @module */
import { EXAMPLES, type Example, faultOf } from "../examples.js";
import type { Case, Reply } from "../suite/case.js";

const ORIGIN = "https://shop.example.org";

/** The headers that every answer must have, and their values where all frameworks write the same. */
const WANTED: Readonly<Record<string, RegExp>> = {
  "access-control-allow-origin": /^https:\/\/shop\.example\.org$/,
  "x-content-type-options": /^nosniff$/,
  "x-frame-options": /^(DENY|SAMEORIGIN)$/i,
  "referrer-policy": /./,
  "x-request-id": /^[\w.:+/=@-]{8,128}$/,
};

/** The three routes. */
export const MIDDLEWARE_CASES: readonly Case[] = EXAMPLES.map(toCase);

function toCase(example: Example): Case {
  const { name, method, path, body } = example;
  const headers = { origin: ORIGIN, ...(body === null ? {} : { "content-type": "application/json" }) };
  const check = ({ status, headers: answered, body: text }: Reply): string | null =>
    faultOf(example, { status, contentType: answered["content-type"] ?? "", body: text }) ?? missingHeader(answered);
  return { name, method, path, headers, body, status: Number(example.status), share: 1, isConstant: true, check };
}

function missingHeader(headers: Reply["headers"]): string | null {
  const wrong = Object.keys(WANTED).find((name) => WANTED[name]?.test(headers[name] ?? "") !== true);
  return wrong === undefined ? null : `expected the header ${wrong}, got ${JSON.stringify(headers[wrong] ?? null)}`;
}
