/** The keys of repeated requests: by whom a request is repeated, and whether it is the same one. @module */
import { Digest } from "../common/digest.js";
import { HTTPException } from "../common/exceptions.js";
import { decodeLatin1 } from "../protocol/bytes.js";
import { parseMediaType } from "../protocol/http-grammar.js";
import type { HTTPConnection, Request } from "../http/request.js";
import { UploadFile } from "../http/upload-file.js";

/** The header of the key, by default. @see draft-ietf-httpapi-idempotency-key-header */
export const KEY_HEADER = "Idempotency-Key";

/** The header of a response that was sent before. */
export const REPLAYED_HEADER = "Idempotency-Replayed";

/** Characters that a key may have at most. */
const MAX_KEY_LENGTH = 255;

/** Methods whose requests change something, so that a repetition has to be recognized. */
const KEYED_METHODS = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** By whom a request is sent, by default: keys are separate for each caller. */
export function callerOf(request: HTTPConnection): string {
  const authorization = request.header("authorization");
  if (authorization !== undefined) return `authorization ${authorization}`;
  const cookies = request.header("cookie");
  return cookies === undefined ? `address ${request.client?.host ?? ""}` : `cookie ${cookies}`;
}

/**
 * The key of a request and its caller as one text of 43 characters, from which neither can be read; `null` if a
 * request has no key, or its method is safe.
 *
 * @param key - The value of the header.
 * @throws HTTPException 400 for a key that is empty, or too long.
 */
export function storageKeyOf(
  request: Request,
  key: string | null | undefined,
  caller: (request: Request) => string = callerOf,
): Promise<string> | string | null {
  if (key === null || key === undefined || !KEYED_METHODS.has(request.method)) return null;
  if (key === "" || key.length > MAX_KEY_LENGTH) {
    throw new HTTPException(400, `The idempotency key should have 1 to ${MAX_KEY_LENGTH} characters`);
  }
  return new Digest().update(JSON.stringify([caller(request), key])).end();
}

/**
 * A digest of everything that makes a request the same one: method, path with query, and body. Of a multipart form the
 * names, values and files are compared, because each try has another boundary.
 */
export async function fingerprintOf(request: Request): Promise<string> {
  const { root_path: root = "", path, query_string: query } = request.scope;
  const digest = new Digest();
  digest.update(JSON.stringify([request.method, root + path, query ? decodeLatin1(query) : ""]));
  if (parseMediaType(request.header("content-type")) !== "multipart/form-data") {
    return digest.update(await request.body()).end();
  }
  for (const [name, value] of await request.form()) {
    if (value instanceof UploadFile) {
      digest.update(JSON.stringify([name, value.filename, value.contentType, value.size]));
      for await (const chunk of value.stream()) digest.update(chunk);
    } else {
      digest.update(JSON.stringify([name, value]));
    }
  }
  return digest.end();
}

/** The response to a request whose key is in use. */
export function stillRunning(): HTTPException {
  return new HTTPException(409, "A request with this idempotency key is still running", {
    headers: { "Retry-After": "1" },
  });
}

/** The response to a request that has the key of another one. */
export function otherRequest(): HTTPException {
  return new HTTPException(422, "The idempotency key belongs to another request");
}
