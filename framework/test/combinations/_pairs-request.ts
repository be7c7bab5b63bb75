/** The request of a combination. @module */
import { BOUNDARY, CLOSING, partHead } from "../support/multipart.js";
import { type Combination, isJSON, isQuery } from "./_pairs-factors.js";
import { PREFIXES } from "./_pairs-model.js";
import { FILE, LIMIT_BYTES, ORIGIN, SAMPLES, SECRET, type Value } from "./_pairs-samples.js";

type Pairs = (readonly [name: string, value: string])[];

export interface SentRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Pairs;
  /** `null` without a value. */
  readonly body: Buffer | null;
  /** True if the body is sent in parts, without its length. */
  readonly isChunked: boolean;
}

const JSON_TYPE = "application/json";
const FORM_TYPE = "application/x-www-form-urlencoded";

/** The parts of a request before they are written. */
class Draft {
  path = "/r";
  readonly query: Pairs = [];
  readonly headers: Pairs = [];
  readonly cookies: Pairs = [];
  body: Buffer | null = null;

  send(type: string, body: string): void {
    this.headers.push(["content-type", type]);
    this.body = Buffer.from(body);
  }
}

export function requestOf(c: Combination): SentRequest {
  const draft = new Draft();
  addParameter(c, draft);
  addCredentials(c, draft);
  const addNumber = (name: string, value: string) => {
    if (isQuery(c.parameter)) draft.headers.push([`x-${name}`, value]);
    else draft.query.push([name, value]);
  };
  if (c.guard !== "none") addNumber("level", c.guard === "own fault" ? "x" : "1");
  if (c.dependency === "own fault") addNumber("page", "x");
  if (c.middleware === "cors") draft.headers.push(["origin", ORIGIN]);
  if (c.middleware === "csrf") draft.headers.push(["origin", ORIGIN], ["sec-fetch-site", "cross-site"]);
  if (c.middleware === "sessions") draft.cookies.push(["__Host-session", "A".repeat(43)]);
  if (c.middleware === "idempotency") draft.headers.push(["idempotency-key", crypto.randomUUID()]);
  if (c.middleware === "compress") draft.headers.push(["accept-encoding", "gzip"]);
  if (c.etag === "known") draft.headers.push(["if-none-match", "*"]);
  if (c.etag === "unmet") draft.headers.push(["if-match", '"other"']);
  const query = encode(draft.query);
  const cookie = draft.cookies.map((pair) => pair.join("=")).join("; ");
  return {
    method: c.method === "mismatch" ? "POST" : c.method,
    target: `${spell(c, PREFIXES[c.mount] + draft.path)}${query === "" ? "" : `?${query}`}`,
    headers: cookie === "" ? draft.headers : [...draft.headers, ["cookie", cookie]],
    body: draft.body,
    isChunked: c.framing === "chunks",
  };
}

/** router.md, Canonical paths: spellings of one path. */
function spell({ spelling }: Combination, path: string): string {
  switch (spelling) {
    case "slash at the end":
      return `${path}/`;
    case "doubled slashes":
      return path.replaceAll("/", "//");
    case "plain":
      return path;
    default: // escapes
      return path.replaceAll(/\/(\w)/g, (_all, letter: string) => `/%${letter.charCodeAt(0).toString(16)}`);
  }
}

const encode = (pairs: Pairs): string => pairs.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");

/** The value to send, or undefined. */
function valueOf({ schema, sent }: Combination, asText: boolean): Value | undefined {
  const sample = SAMPLES[schema];
  if (sent === "missing") return undefined;
  if (sent === "mistyped") return asText ? sample.mistypedText : sample.mistyped;
  return sent === "unfit" ? sample.unfit : sample.valid;
}

function addParameter(c: Combination, draft: Draft): void {
  if (isJSON(c.parameter)) return addJSON(c, draft);
  if (c.parameter === "file") return addFile(c, draft);
  const pairs = repeated(c, textPairs(c));
  const extra: Pairs = c.sent === "extra" ? [["other", "1"]] : [];
  switch (c.parameter) {
    case "path": {
      draft.path = c.sent === "missing" ? "/r/" : `/r/${encodeURIComponent(pairs[0]?.[1] ?? "")}`;
      return void draft.query.push(...extra);
    }
    case "header":
      return void draft.headers.push(...pairs, ...extra);
    case "cookie":
      return void draft.cookies.push(...pairs, ...extra);
    case "form":
      return addForm(c, draft, [...pairs, ...extra]);
    default:
      return void draft.query.push(...pairs, ...extra);
  }
}

/** A value as text: of a list two, of an object one for each property. Of a scalar sent twice, the one that counts is valid. */
function textPairs(c: Combination): Pairs {
  const value = c.parameter === "none" ? undefined : valueOf(c, true);
  if (value === undefined) return [];
  if (typeof value === "object") {
    return Object.entries(value).map(([name, property]) => [name, String(property)]);
  }
  const pairs: Pairs = [["value", String(value)]];
  const { valid } = SAMPLES[c.schema];
  if (c.parameter === "list" && typeof valid !== "object") pairs.unshift(["value", String(valid)]);
  return pairs;
}

/** parameters.md, Text: the last value of a repeated key counts, and of two cookies the first. */
function repeated(c: Combination, pairs: Pairs): Pairs {
  if (c.sent !== "twice") return pairs;
  const others = pairs.map(([name]) => [name, "other"] as const);
  return c.parameter === "cookie" ? [...pairs, ...others] : [...others, ...pairs];
}

function addForm(c: Combination, draft: Draft, pairs: Pairs): void {
  if (c.sent === "wrong type") return draft.send(JSON_TYPE, '{"value":5}');
  const padding: Pairs = c.sent === "too large" ? [["pad", "x".repeat(LIMIT_BYTES)]] : [];
  draft.send(FORM_TYPE, encode(pairs.length === 0 ? [["other", "1"]] : [...pairs, ...padding]));
}

function addJSON(c: Combination, draft: Draft): void {
  const { parameter, sent } = c;
  let value = valueOf(c, false);
  if (sent === "extra" && parameter !== "embedded") {
    if (typeof value === "object") value = { ...value, other: 1 };
    else draft.query.push(["other", "1"]);
  }
  if (value === undefined && parameter !== "embedded") return;
  const whole = parameter === "embedded" ? { value, ...(sent === "extra" ? { other: 1 } : {}) } : value;
  const text = JSON.stringify(whole) + (sent === "too large" ? " ".repeat(LIMIT_BYTES) : "");
  draft.send(sent === "wrong type" ? "text/plain" : JSON_TYPE, sent === "broken" ? '{"value":' : text);
}

function addFile(c: Combination, draft: Draft): void {
  if (c.sent === "wrong type") return draft.send(FORM_TYPE, "value=5");
  const content = c.sent === "too large" ? "x".repeat(2 * LIMIT_BYTES) : FILE.text;
  const text = partHead("other") + "1";
  const file = partHead("value", { filename: FILE.filename, type: "text/plain" }) + content;
  const parts = { missing: [text], mistyped: [`${partHead("value")}text`], extra: [text, file] } as Record<
    string,
    string[]
  >;
  const body = (parts[c.sent] ?? [file]).join("\r\n");
  draft.send(`multipart/form-data; boundary=${BOUNDARY}`, c.sent === "broken" ? body : body + CLOSING);
}

function addCredentials({ credentials, scheme }: Combination, draft: Draft): void {
  if (/none|absent|missing/.test(credentials)) return;
  const secret = credentials.endsWith("unknown") ? "stranger" : SECRET;
  const isEmpty = credentials.endsWith("malformed");
  const isRepeated = credentials.endsWith("repeated");
  const authorize = (word: string, value: string) => {
    const one = `${credentials === "of another scheme" ? "Other" : word} ${value}`;
    draft.headers.push(["authorization", isEmpty ? word : isRepeated ? `${one}, ${one}` : one]);
  };
  const place = { "key header": draft.headers, "key query": draft.query, "key cookie": draft.cookies };
  switch (scheme) {
    case "bearer":
      return authorize("Bearer", secret);
    case "token":
      return authorize("Token", secret);
    case "basic":
      return authorize("Basic", Buffer.from(`ada:${secret}`).toString("base64"));
    default: {
      const pair = [scheme === "key header" ? "x-key" : "key", isEmpty ? "" : secret] as const;
      place[scheme].push(pair, ...(isRepeated ? [pair] : []));
    }
  }
}
