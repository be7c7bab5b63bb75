/** Heads of HTTP/2: from the fields of a request to a `RequestHead`, and from the head of a response to fields. @module */
import { METHODS } from "node:http";
import type { OutgoingHttpHeaders } from "node:http2";
import { ErrorResponse } from "../../../protocol/error-response.js";
import type { RequestLimits } from "../header-section.js";
import { checkTarget, createHead, type RequestHead } from "../request-head.js";
import type { ServerResponseHead } from "../../../protocol/response-head.js";

const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);

const errors = {
  malformed: new ErrorResponse(400, "The request is malformed."),
  connect: new ErrorResponse(405, undefined, ["allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE"]),
  headerBytes: new ErrorResponse(431, "The header lines are too long."),
  host: new ErrorResponse(400, "Expected one well-formed host, the same in :authority and Host."),
};

/**
 * Reads the head of a request.
 *
 * `node:http2` has refused what RFC 9113 §8 calls malformed: pseudo-header fields that are missing, repeated, unknown or
 * behind others, names in upper case, fields about the connection, a `:path` that is neither in origin form nor `*`.
 *
 * @param fields - `[name, value, …]` as received, pseudo-header fields included.
 */
export function readHead(fields: readonly string[], limits: RequestLimits): RequestHead | ErrorResponse {
  const { pseudo, headers, hosts, bytes } = sortFields(fields);
  const { ":method": method = "", ":path": path = "", ":scheme": scheme = "", ":authority": authority } = pseudo;
  if (method === "CONNECT") return errors.connect;
  if (!KNOWN_METHODS.has(method) || !/^https?$/i.test(scheme)) return errors.malformed;
  const host = authority ?? hosts[0];
  // RFC 9113 §8.3.1: a Host unlike the authority is another party's idea of where the request goes.
  if (host === undefined || hosts.some((other) => other.toLowerCase() !== host.toLowerCase())) return errors.host;
  if (hosts.length > 1) return errors.host;
  const fault = checkTarget(path, limits);
  if (fault !== null) return fault;
  if (bytes > limits.headerBytes) return errors.headerBytes;
  return createHead(method, path, 1, ["host", host, ...headers], limits);
}

function sortFields(fields: readonly string[]) {
  const pseudo: Partial<Record<string, string>> = {};
  const headers: string[] = [];
  const hosts: string[] = [];
  let cookieAt = -1;
  let bytes = 0;
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? "";
    const value = fields[index + 1] ?? "";
    if (name.startsWith(":")) {
      pseudo[name] = value;
      continue;
    }
    bytes += name.length + value.length + 4; // as in HTTP/1.1, where a colon, a blank and the line's end are counted
    if (name === "host") {
      hosts.push(value);
    } else if (name === "cookie" && cookieAt !== -1) {
      headers[cookieAt] += `; ${value}`; // RFC 9113 §8.2.3
    } else {
      if (name === "cookie") cookieAt = headers.length + 1;
      headers.push(name, value);
    }
  }
  return { pseudo, headers, hosts, bytes };
}

/** RFC 9113 §8.2.2: fields about the connection, in addition to those that no response keeps; and the server's own. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "upgrade",
  "proxy-connection",
  "http2-settings",
  "te",
  "content-length",
]);
const OUTER_BLANKS = /^[\t ]+|[\t ]+$/g;

/**
 * The fields of a response, repeated ones in a list.
 *
 * @param joined - Whether repeated ones are joined (RFC 9110 §5.3), except for `Set-Cookie`, which cannot be joined.
 */
export function toFields({ status, headers, contentLength }: ServerResponseHead, joined: boolean): OutgoingHttpHeaders {
  const fields = Object.create(null) as Record<string, string | string[] | number>;
  fields[":status"] = status;
  for (let index = 0; index < headers.raw.length; index += 2) {
    const name = (headers.raw[index] ?? "").toLowerCase();
    const value = (headers.raw[index + 1] ?? "").replaceAll(OUTER_BLANKS, ""); // RFC 9113 §8.2.1
    if (LEFT_OUT.has(name)) continue;
    const before = fields[name];
    if (before === undefined) fields[name] = value;
    else if (joined && name !== "set-cookie") fields[name] = `${String(before)}, ${value}`;
    else fields[name] = [before, value].flat().map(String);
  }
  if (contentLength !== -1) fields["content-length"] = contentLength;
  return fields;
}
