/** A body that a parser of the host has read. @module */
import { encodeUTF8 } from "../../../protocol/header-list.js";
import { parseMediaType } from "../../../protocol/http-grammar.js";
import { isObject } from "../../../common/options.js";
import type { HeaderSection } from "../header-section.js";
import type { HostedRequest } from "./place.js";

/** A body, and the headers that describe it. */
export interface HostBody {
  readonly bytes: Uint8Array;
  readonly section: HeaderSection;
}

/** RFC 6839 §3.1: a type with this suffix is JSON. */
const JSON_TYPE = /^application\/(?:.+\+)?json$/;
const FORM_TYPE = "application/x-www-form-urlencoded";
const CHARSET = /;[\t ]*charset=(?:"[^"]*"|[^;]*)/i;

/**
 * The body of a request whose stream has ended: as a parser has left it in `req.body`, or written again by the type of the
 * request.
 *
 * @returns `null` if it is missing, or cannot be written as its type.
 */
export function hostBody({ body }: HostedRequest, section: HeaderSection): HostBody | null {
  if (body instanceof Uint8Array) return describe(body, section, body.length === section.bodyBytes);
  const text = typeof body === "string" ? body : write(body, parseMediaType(section.content.type));
  if (text === undefined) return null;
  const bytes = encodeUTF8(text);
  return describe(bytes, withUTF8(section), typeof body === "string" && bytes.length === section.bodyBytes);
}

/** @param isAsSent - `true` if it may still be encoded. Parsers decode a body, which changes its length. */
function describe(bytes: Uint8Array, section: HeaderSection, isAsSent: boolean): HostBody {
  const removed = new Set(["content-length", "transfer-encoding"]);
  if (!isAsSent) removed.add("content-encoding");
  const kept = pairsOf(section.headers).filter(([name]) => !removed.has(name.toLowerCase()));
  const { type, encoding } = section.content;
  const content = { type, length: bytes.length, encoding: isAsSent ? encoding : undefined };
  const headers = [...kept, ["content-length", String(bytes.length)]].flat();
  return { bytes, section: { ...section, headers, content, bodyBytes: bytes.length } };
}

function pairsOf(headers: readonly string[]): [name: string, value: string][] {
  return headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1] ?? ""]] : []));
}

/** A parser has decoded the text of another charset. */
function withUTF8(section: HeaderSection): HeaderSection {
  const { type } = section.content;
  if (type === undefined || !CHARSET.test(type)) return section;
  const utf8 = type.replace(CHARSET, "; charset=utf-8");
  const headers = pairsOf(section.headers).flatMap(([name, value]) => [
    name,
    name.toLowerCase() === "content-type" ? utf8 : value,
  ]);
  return { ...section, headers, content: { ...section.content, type: utf8 } };
}

function write(value: unknown, mediaType: string): string | undefined {
  try {
    if (JSON_TYPE.test(mediaType)) return JSON.stringify(value);
    return mediaType === FORM_TYPE && isObject(value) ? writeForm(value) : undefined;
  } catch {
    return undefined; // a cycle, a BigInt, or too deep
  }
}

/** Repeats the name of an array, and writes the keys of an object as `a[b]`: the two forms that parsers read. */
function writeForm(fields: object): string {
  const form = new URLSearchParams();
  const add = (name: string, value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) add(name, item);
    else if (isObject(value)) for (const [key, item] of Object.entries(value)) add(`${name}[${key}]`, item);
    else form.append(name, textOf(value));
  };
  for (const [name, value] of Object.entries(fields)) add(name, value);
  return form.toString();
}

/** Parsers make strings of fields, and other code may have changed them. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "").replace(/^null$/, "");
}
