/** Responses that send a file, with ranges and conditional requests. @module */
import { sendWhole, responseFacts } from "../../protocol/response.js";
import type { Send } from "../../protocol/asgi.js";
import { createBytes } from "../../protocol/bytes.js";
import { encodeUTF8 } from "../../protocol/header-list.js";
import { toPath } from "../save-file.js";
import { HTTPException } from "../../common/exceptions.js";
import { missingModule } from "../../common/runtime.js";
import { markMethods } from "../../common/promises.js";
import type { Request } from "../request.js";
import { evaluateConditions, holdsIfRange, parseHTTPDate, type Validators } from "./conditions.js";
import { contentDisposition, describesBody, ResponseHeaders } from "./headers.js";
import { openFile, type OpenFile } from "./open-file.js";
import { NO_BYTES, PREPARE, Response, type ResponseOptions, type Sender, withCharset } from "./response.js";

/** Range requests, RFC 9110 §14. */

/** A part of a file: from the first byte to the last, both counted from 0 and both included. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Attack: a header of many ranges asks for many times the file, or for as many parts as bytes. Past this it is ignored. */
const MAX_RANGES = 50;

const RANGE = /[ \t]*(\d*)-(\d*)[ \t]*(?:,|$)/y;

/**
 * The parts that a `Range` header asks for, in the order of the file, those that touch or overlap put together.
 *
 * @returns `null` if the header must be ignored, an empty array if no range can be satisfied.
 */
function parseRanges(header: string, size: number): ByteRange[] | null {
  const unit = /^bytes[ \t]*=/i.exec(header);
  if (unit === null) return null;
  const ranges: ByteRange[] = [];
  RANGE.lastIndex = unit[0].length;
  for (let count = 1; ; count++) {
    const match = RANGE.exec(header);
    if (match === null || count > MAX_RANGES) return null;
    const [, first = "", last = ""] = match;
    const range = toRange(first, last, size);
    if (range === "invalid") return null;
    if (range !== null) ranges.push(range);
    if (RANGE.lastIndex >= header.length) return header.endsWith(",") ? null : coalesce(ranges);
  }
}

/** One range within the file; `null` for one outside it. */
function toRange(first: string, last: string, size: number): ByteRange | null | "invalid" {
  if (first === "") {
    if (last === "") return "invalid";
    const length = Math.min(Number(last), size);
    // No `Content-Range` can name a part of an empty file.
    if (size === 0) return "invalid";
    return length === 0 ? null : { first: size - length, last: size - 1 };
  }
  const from = Number(first);
  const to = last === "" ? size - 1 : Number(last);
  if (last !== "" && to < from) return "invalid";
  return from >= size ? null : { first: from, last: Math.min(to, size - 1) };
}

function coalesce(ranges: ByteRange[]): ByteRange[] {
  const merged: ByteRange[] = [];
  for (const range of ranges.toSorted((left, right) => left.first - right.first)) {
    const previous = merged.at(-1);
    if (previous === undefined || range.first > previous.last + 1) merged.push(range);
    else if (range.last > previous.last) merged[merged.length - 1] = { first: previous.first, last: range.last };
  }
  return merged;
}

/** The options of a `FileResponse`. */
export interface FileResponseOptions extends ResponseOptions {
  /**
   * The folder that the file must not leave: neither by `..`, nor as an absolute path, nor by a link. Set it if a part
   * of the path is from a request.
   */
  root?: string | URL;
  /** The name under which a client saves the file: the part after the last slash, with `_` for control characters. */
  filename?: string;
  /** With `filename`: the client saves the file or shows it. Defaults to `"attachment"`. */
  disposition?: "attachment" | "inline";
}

/**
 * Bytes read at a time, and held for each client that does not read. Measured, 1 GiB over the loopback interface: 64 KiB 2.1 s,
 * 256 KiB 1.6 s, 1 MiB 0.7 s.
 */
const CHUNK_BYTES = 262_144;

/** A part of a body: bytes that are there, or a range of the file. */
type Piece = Uint8Array | ByteRange;

/** The request for a file, and whether only its headers are sent. */
interface Asked<Of> {
  readonly headOnly: boolean;
  readonly request: Of;
}

/** The status of the response, and its body. */
type Selection = readonly [status: number, pieces: readonly Piece[]];

/**
 * A file, sent as it is read. It has `ETag`, `Last-Modified` and `Accept-Ranges`; conditional requests result in 304 or
 * 412, requests for one or several ranges in 206 or 416, and a missing file in 404.
 *
 * @example
 * ```ts
 * import { App, FileResponse } from "tsgi";
 *
 * const app = new App();
 * app.get("/reports/{name}", async ({ name }) => new FileResponse(name, { root: "reports", filename: name }));
 * ```
 */
export class FileResponse extends Response {
  /** The path of the file, below `root` if it is set. */
  readonly path: string | URL;
  readonly #root: string | URL | undefined;

  static {
    markMethods(FileResponse.prototype, [PREPARE, "send"]);
  }

  /**
   * @param path - A path, or a `file:` URL. Relative paths start at `root`, else at the working directory.
   * @throws TypeError when the path is not one, or `filename` ends with a slash.
   */
  constructor(
    path: string | URL,
    { root, filename, disposition = "attachment", ...options }: FileResponseOptions = {},
  ) {
    if (typeof path !== "string" && !(path instanceof URL)) {
      throw new TypeError(`FileResponse takes the path of a file, not ${path === null ? "null" : typeof path}.`);
    }
    super(null, options);
    this.path = path;
    this.#root = root;
    const isNamed = process.env["TSGI_PLATFORM"] !== "web" && filename !== undefined;
    if (isNamed && !this.headers.has("content-disposition")) {
      this.headers.set("content-disposition", contentDisposition(disposition, filename));
    }
  }

  /** Opens the file. @throws HTTPException 404, 412 or 416; ConfigurationError on a platform without files. @internal */
  override async [PREPARE](headOnly: boolean, request?: Request): Promise<Sender> {
    if (process.env["TSGI_PLATFORM"] === "web") throw missingModule("node:fs/promises", "FileResponse");
    const path = toPath(this.path);
    const file = await openFile(path, this.#root === undefined ? null : toPath(this.#root));
    let isKept = false;
    try {
      const headers = new ResponseHeaders(this.headers);
      await addFacts(headers, path, file);
      const [status, pieces] = select(headers, file.size, { status: this.statusCode, headOnly, request });
      const list = headers.toList();
      if (pieces.length === 0) return (send) => sendWhole({ send }, status, list, NO_BYTES);
      isKept = true;
      const sender: Sender = async (send) => {
        try {
          const started = send({ type: "http.response.start", status, headers: list });
          if (started) await started;
          await sendPieces(file, pieces, send);
        } finally {
          await file.handle.close();
        }
      };
      sender.cancel = () => file.handle.close();
      return sender;
    } finally {
      if (!isKept) await file.handle.close();
    }
  }

  override async send(send: Send, headOnly = false, request?: Request): Promise<void> {
    const sender = await this[PREPARE](headOnly, request);
    await sender(send);
  }
}

/** Selects the part to send. Conditions and ranges count where the file would be sent whole (RFC 9110 §13.2.1). */
function select(
  headers: ResponseHeaders,
  size: number,
  { status, headOnly, request }: Asked<Request | undefined> & { readonly status: number },
): Selection {
  const isRead = request?.method === "GET" || request?.method === "HEAD";
  const selected = status === 200 && isRead ? selectPart(headers, size, { headOnly, request }) : null;
  if (selected !== null) return selected;
  if (responseFacts(status, "GET").bodyless) return notModified(headers, status);
  headers.set("content-length", String(size));
  return [status, headOnly || size === 0 ? [] : [{ first: 0, last: size - 1 }]];
}

/** The part that a conditional request and its `Range` ask for; `null` for the whole. */
function selectPart(headers: ResponseHeaders, size: number, { headOnly, request }: Asked<Request>): Selection | null {
  const lastModified = parseHTTPDate(headers.get("last-modified") ?? "");
  const validators: Validators = { etag: headers.get("etag") ?? "", lastModified };
  const verdict = evaluateConditions(request, validators);
  if (verdict === "failed") throw new HTTPException(412);
  if (verdict === "not-modified") return notModified(headers);
  const range = headOnly ? undefined : request.header("range");
  const ranges = range !== undefined && holdsIfRange(request, validators) ? parseRanges(range, size) : null;
  return ranges === null ? null : partial(headers, ranges, size);
}

/** The `Content-Type` of a file by its name. */
async function contentTypeOf(path: string): Promise<string> {
  const { lookup } = await import("mrmime");
  return withCharset(lookup(path) ?? "application/octet-stream");
}

/** Adds the headers that describe the file, unless the application has set them. */
async function addFacts(headers: ResponseHeaders, path: string, { size, modifiedNs }: OpenFile): Promise<void> {
  const setDefault = (name: string, value: string): void => {
    if (!headers.has(name)) headers.set(name, value);
  };
  const coding = headers.get("content-encoding");
  // Below an encoding, `app.js.br` is JavaScript.
  const content = coding === undefined ? path : path.replace(/\.(?:br|gz|zst)$/, "");
  if (!headers.has("content-type")) headers.set("content-type", await contentTypeOf(content));
  // RFC 9110 §8.8.3.3: the encoded form needs another ETag, even if a build gives both forms the same time and they
  // have the same size.
  const tag = `${modifiedNs.toString(36)}-${size.toString(36)}`;
  setDefault("etag", coding === undefined ? `"${tag}"` : `"${tag}-${coding}"`);
  // RFC 9110 §8.8.2.1: never a time that is still to come.
  const modifiedMs = Math.min(Number(modifiedNs / 1_000_000n), Date.now());
  setDefault("last-modified", new Date(modifiedMs).toUTCString());
  setDefault("accept-ranges", "bytes");
}

function notModified(headers: ResponseHeaders, status = 304): Selection {
  const names = Array.from(headers, ([name]) => name);
  for (const name of names.filter(describesBody)) headers.delete(name);
  return [status, []];
}

/** RFC 9110 §15.3.7: one range as it is, several as `multipart/byteranges`. */
function partial(headers: ResponseHeaders, ranges: readonly ByteRange[], size: number): Selection {
  const [only, ...others] = ranges;
  if (only === undefined) {
    throw new HTTPException(416, undefined, { headers: { "Content-Range": `bytes */${size}` } });
  }
  const pieces = others.length === 0 ? [only] : multipart(headers, ranges, size);
  if (others.length === 0) headers.set("content-range", contentRange(only, size));
  headers.set("content-length", String(pieces.reduce((sum, piece) => sum + lengthOf(piece), 0)));
  return [206, pieces];
}

function multipart(headers: ResponseHeaders, ranges: readonly ByteRange[], size: number): Piece[] {
  // Attack: the author of the file could forge parts with a boundary that can be guessed.
  const boundary = crypto.randomUUID();
  const type = headers.get("content-type") ?? "application/octet-stream";
  headers.set("content-type", `multipart/byteranges; boundary=${boundary}`);
  const parts = ranges.flatMap((range, index) => [
    encodeUTF8(
      `${index === 0 ? "" : "\r\n"}--${boundary}\r\nContent-Type: ${type}\r\n` +
        `Content-Range: ${contentRange(range, size)}\r\n\r\n`,
    ),
    range,
  ]);
  return [...parts, encodeUTF8(`\r\n--${boundary}--\r\n`)];
}

function contentRange({ first, last }: ByteRange, size: number): string {
  return `bytes ${first}-${last}/${size}`;
}

function lengthOf(piece: Piece): number {
  return piece instanceof Uint8Array ? piece.length : piece.last - piece.first + 1;
}

async function sendPieces({ handle }: OpenFile, pieces: readonly Piece[], send: Send): Promise<void> {
  const end = pieces.length - 1;
  for (const [index, piece] of pieces.entries()) {
    if (piece instanceof Uint8Array) {
      await send({ type: "http.response.body", body: piece, more_body: index < end });
      continue;
    }
    for (let position = piece.first; position <= piece.last;) {
      const length = Math.min(CHUNK_BYTES, piece.last - position + 1);
      // A separate chunk each: the server may still use the previous one.
      const { bytesRead, buffer } = await handle.read(createBytes(length), 0, length, position);
      if (bytesRead === 0) throw new Error("The file has become shorter while it was sent.");
      position += bytesRead;
      const body = bytesRead === length ? buffer : buffer.subarray(0, bytesRead);
      const sent = send({ type: "http.response.body", body, more_body: index < end || position <= piece.last });
      if (sent) await sent;
    }
  }
}
