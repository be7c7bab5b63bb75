/** The requests with larger answers and bodies. @module */
import { isDeepStrictEqual } from "node:util";
import { BROWSER_HEADERS } from "../examples.js";
import { type Case, parseJSON } from "../suite/case.js";
import { LARGE, SMALL } from "./items.js";

/** The bytes of the upload. */
const UPLOAD = 2 ** 20;
/** The bytes of a body as long as the head before it. */
const FORM = 2 ** 10;

/** The requests over HTTP. */
export const PAYLOAD_CASES: readonly Case[] = [
  get("GET /small, 1 KB of JSON", "/small", 1, { items: SMALL }),
  get("GET /large, 16 KB of JSON", "/large", 0.5, { items: LARGE }),
  // The first 500 uploads of a process take 1.6 times as long as later ones. Ratios to bare node:http were 0.52 to 0.70 for
  // them alone, and 0.59 to 0.65 for 2,000 (4 processes each).
  upload("POST /upload, 1 MB", 0.1, UPLOAD),
  withHeaders(get("GET /small", "/small", 1, { items: SMALL })),
  withHeaders(upload("POST /upload, 1 KB", 1, FORM)),
];

/** The request over HTTPS. */
export const HTTPS_CASES: readonly Case[] = [get("GET /health over HTTPS", "/health", 1, { status: "ok" })];

function upload(name: string, share: number, bytes: number): Case {
  const headers = { "content-type": "application/octet-stream" };
  return { ...get(name, "/upload", share, { bytes }), method: "POST", headers, body: "x".repeat(bytes) };
}

function withHeaders(one: Case): Case {
  return { ...one, name: `${one.name} with 1 KB of header lines`, headers: { ...BROWSER_HEADERS, ...one.headers } };
}

function get(name: string, path: string, share: number, answer: unknown): Case {
  const check: Case["check"] = ({ headers, body }) => {
    if (!/^application\/json\b/.test(headers["content-type"] ?? "")) return "expected application/json";
    return isDeepStrictEqual(parseJSON(body), answer) ? null : `expected another body than ${body.slice(0, 200)}`;
  };
  return { name, method: "GET", path, headers: {}, body: null, status: 200, share, isConstant: true, check };
}
