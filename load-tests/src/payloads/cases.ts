/** The requests with larger answers and bodies. @module */
import { isDeepStrictEqual } from "node:util";
import { type Case, parseJSON } from "../suite/case.js";
import { LARGE, SMALL } from "./items.js";

/** The bytes of the upload. */
const UPLOAD = 2 ** 20;

/** The requests over HTTP. */
export const PAYLOAD_CASES: readonly Case[] = [
  get("GET /small, 1 KB of JSON", "/small", 1, { items: SMALL }),
  get("GET /large, 16 KB of JSON", "/large", 0.5, { items: LARGE }),
  {
    ...get("POST /upload, 1 MB", "/upload", 0.025, { bytes: UPLOAD }),
    method: "POST",
    headers: { "content-type": "application/octet-stream" },
    body: "x".repeat(UPLOAD),
  },
];

/** The request over HTTPS. */
export const HTTPS_CASES: readonly Case[] = [get("GET /health over HTTPS", "/health", 1, { status: "ok" })];

function get(name: string, path: string, share: number, answer: unknown): Case {
  const check: Case["check"] = ({ headers, body }) => {
    if (!/^application\/json\b/.test(headers["content-type"] ?? "")) return "expected application/json";
    return isDeepStrictEqual(parseJSON(body), answer) ? null : `expected another body than ${body.slice(0, 200)}`;
  };
  return { name, method: "GET", path, headers: {}, body: null, status: 200, share, isConstant: true, check };
}
