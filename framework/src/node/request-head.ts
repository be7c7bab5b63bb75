/** The head of a request, as far as it is the same for all engines: its framing, its host, the form of its target. @module */
import { isAuthority } from "../http-grammar.js";
import { ErrorResponse } from "./error-response.js";

/** Limits of a request's head. */
export interface RequestLimits {
  /** Bytes of the request target: path and query (414). Defaults to 8,192. */
  targetBytes: number;
  /** Bytes of all header lines together (431). Defaults to 16,384. */
  headerBytes: number;
  /** Number of header lines (431). Defaults to 100. */
  headerCount: number;
}

/** The limits where nothing else is asked for. */
export const DEFAULT_REQUEST_LIMITS: RequestLimits = { targetBytes: 8192, headerBytes: 16_384, headerCount: 100 };

/** A head that may reach the application. */
export class RequestHead {
  readonly method: string;
  /** Path and query, in origin form, or `"*"`. */
  target: string;
  /** The minor version of HTTP/1: 0 or 1. */
  readonly minorVersion: number;
  /** `[name, value, …]` as they came; `Host` is the one that counts. */
  headers: string[];
  /** Bytes of the body: 0 for none, `NaN` for a chunked one. */
  bodyBytes = 0;
  /** Whether the client takes another response on this connection. */
  keepAlive: boolean;
  /** Whether the client waits for `100 Continue`. */
  expectsContinue = false;
  /** Whether the client asks for a WebSocket. */
  upgrade = false;
  /** The position behind the head in its bytes. */
  end = 0;
  /** The header lines as text, with the empty line behind them; empty where they are not compared with later ones. */
  #fields = "";

  constructor(method: string, target: string, minorVersion: number, headers: string[] = []) {
    this.method = method;
    this.target = target;
    this.minorVersion = minorVersion;
    this.headers = headers;
    this.keepAlive = minorVersion === 1;
  }

  /** Keeps the text of the header lines, for {@link isRepeated}. */
  keepFields(text: string): void {
    this.#fields = text;
  }

  /** Whether the header lines of this head come again at a position of a text. */
  isRepeated(text: string, at: number): boolean {
    return this.#fields !== "" && text.startsWith(this.#fields, at);
  }

  /** Takes over the header lines of another head, which are the same, and what they say. Returns their length. */
  repeat(other: RequestHead): number {
    this.headers = other.headers;
    this.bodyBytes = other.bodyBytes;
    this.keepAlive = other.keepAlive;
    this.expectsContinue = other.expectsContinue;
    this.upgrade = other.upgrade;
    this.#fields = other.#fields;
    return this.#fields.length;
  }
}

/** Visible US-ASCII without `#`: RFC 9112 §3.2, and RFC 9110 §7.1 for the fragment. */
export const NOT_IN_TARGET = /[^!"$-~]/;
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
const ABSOLUTE_FORM = /^https?:\/\/([^/?]*)(.*)$/i;

const errors = {
  target: new ErrorResponse(400, "The request target is malformed."),
  targetBytes: new ErrorResponse(414),
  headerCount: new ErrorResponse(431, "There are too many header lines."),
  host: new ErrorResponse(400, "Expected exactly one well-formed Host header."),
  expect: new ErrorResponse(417, "Expected no expectation but 100-continue."),
  contentLength: new ErrorResponse(400, "Expected one Content-Length, and no Transfer-Encoding beside it."),
  oldTransferEncoding: new ErrorResponse(400, "Transfer-Encoding needs HTTP/1.1."),
  transferEncoding: new ErrorResponse(501, "Unsupported Transfer-Encoding: use chunked."),
};

/** Checks a head whose lines are well formed, and completes its fields. Returns why it is refused, or `null`. */
export function checkHead(head: RequestHead, limits: RequestLimits): ErrorResponse | null {
  const { headers } = head;
  if (headers.length > 2 * limits.headerCount) return errors.headerCount;
  let framing: Framing | null = null;
  let hosts = 0;
  let host = "";
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    const field = framingField(name);
    if (field === null) continue;
    const value = headers[index + 1] as string;
    if (field === "host") {
      hosts++;
      host = value;
    } else {
      (framing ??= new Framing()).read(field, value);
    }
  }
  const fault = checkHost(head, hosts, host) ?? framing?.apply(head) ?? null;
  return fault ?? checkTargetForm(head);
}

/** Checks the form of the target, whose characters are checked. An absolute one is brought into origin form. */
export function checkTargetForm(head: RequestHead): ErrorResponse | null {
  return head.target.charCodeAt(0) === 0x2f ? checkEscapes(head) : checkOtherForm(head);
}

type FramingField = "host" | "expect" | "upgrade" | "connection" | "content-length" | "transfer-encoding";

/** The fields that frame a message, by the length of their names: no two are alike in it. */
const FRAMING_FIELDS: readonly (FramingField | undefined)[] = [];
for (const field of ["host", "expect", "upgrade", "connection", "content-length", "transfer-encoding"] as const) {
  (FRAMING_FIELDS as FramingField[])[field.length] = field;
}

/** The field that a header line is, where it frames the message. Length and first letter tell most others apart. */
function framingField(name: string): FramingField | null {
  const field = FRAMING_FIELDS[name.length];
  if (field === undefined || (name.charCodeAt(0) | 0x20) !== field.charCodeAt(0)) return null;
  return name === "Host" || name.toLowerCase() === field ? field : null;
}

function checkHost(head: RequestHead, hosts: number, host: string): ErrorResponse | null {
  if (hosts !== 1) return hosts > 1 || head.minorVersion === 1 ? errors.host : null;
  if (host === knownHost) return null;
  if (!isAuthority(host)) return errors.host;
  knownHost = host;
  return null;
}

/** The same for a target that no parser has looked at. */
export function checkTarget(target: string, limits: RequestLimits): ErrorResponse | null {
  if (target.length > limits.targetBytes) return errors.targetBytes;
  return NOT_IN_TARGET.test(target) ? errors.target : null;
}

/** The last `Host` that was found to be well formed: the clients of a server name few. */
let knownHost = "";

/** The headers of a request that say where it ends and how its connection goes on. */
class Framing {
  #lengths = 0;
  #length = "";
  #codings = 0;
  #coding = "";
  #connection: string | null = null;
  #upgrade: string | null = null;
  #expect: string | null = null;

  /** Takes one header line. */
  read(field: Exclude<FramingField, "host">, value: string): void {
    switch (field) {
      case "content-length":
        this.#lengths++;
        this.#length = value;
        break;
      case "transfer-encoding":
        this.#codings++;
        this.#coding = value;
        break;
      case "connection":
        this.#connection = this.#connection === null ? value : `${this.#connection},${value}`;
        break;
      case "upgrade":
        this.#upgrade = value;
        break;
      case "expect":
        this.#expect = this.#expect === null ? value : `${this.#expect},${value}`;
    }
  }

  /** Writes into the head what the lines say together. */
  apply(head: RequestHead): ErrorResponse | null {
    if (this.#connection !== null) this.#readConnection(head, this.#connection);
    if (this.#expect !== null && head.minorVersion === 1) {
      if (this.#expect.toLowerCase() !== "100-continue") return errors.expect;
      head.expectsContinue = true; // RFC 9110 §10.1.1: an HTTP/1.0 client's is ignored
    }
    return this.#lengths + this.#codings === 0 ? null : this.#readBody(head);
  }

  #readConnection(head: RequestHead, connection: string): void {
    const options = connection.toLowerCase().split(/[\t ]*,[\t ]*/);
    if (head.minorVersion === 0) head.keepAlive = options.includes("keep-alive");
    if (options.includes("close")) head.keepAlive = false;
    head.upgrade = this.#upgrade?.toLowerCase() === "websocket" && options.includes("upgrade");
  }

  /** RFC 9112 §6.3. */
  #readBody(head: RequestHead): ErrorResponse | null {
    if (this.#codings === 0) {
      if (this.#lengths > 1 || !/^0*\d{1,15}$/.test(this.#length)) return errors.contentLength;
      head.bodyBytes = Number(this.#length);
      return null;
    }
    if (head.minorVersion === 0) return errors.oldTransferEncoding; // RFC 9112 §6.1
    if (this.#lengths > 0) return errors.contentLength;
    if (this.#codings > 1 || this.#coding.toLowerCase() !== "chunked") return errors.transferEncoding;
    head.bodyBytes = Number.NaN;
    return null;
  }
}

function checkEscapes(head: RequestHead): ErrorResponse | null {
  const { target } = head;
  if (!target.includes("%")) return null;
  const mark = target.indexOf("?");
  return BROKEN_ESCAPE.test(mark === -1 ? target : target.slice(0, mark)) ? errors.target : null;
}

/** The absolute form, whose authority counts and not that of `Host` (RFC 9112 §3.2.2), and the asterisk of OPTIONS. */
function checkOtherForm(head: RequestHead): ErrorResponse | null {
  if (head.target === "*" && head.method === "OPTIONS") return null;
  const [, authority, rest] = ABSOLUTE_FORM.exec(head.target) ?? [];
  if (authority === undefined || rest === undefined || !isAuthority(authority)) return errors.target;
  const headers = ["host", authority];
  for (let index = 0; index < head.headers.length; index += 2) {
    const name = head.headers[index] as string;
    if (name.toLowerCase() !== "host") headers.push(name, head.headers[index + 1] as string);
  }
  head.headers = headers;
  head.target = rest.startsWith("/") ? rest : `/${rest}`;
  return checkEscapes(head);
}
