/** The keys of repeated requests, for a dependency: the same rules as of the middleware `idempotency`. @module */
import { Digest } from "../common/digest.js";
import { HTTPException } from "../common/exceptions.js";
import { decodeLatin1 } from "../protocol/bytes.js";
import { parseMediaType } from "../protocol/http-grammar.js";
import type { Request } from "../http/request.js";
import { UploadFile } from "../http/upload-file.js";
import { knownCaller } from "./idempotency/caller.js";
import { isOneKey, keysOf, storedNameOf, REFUSALS } from "./idempotency.js";

/** The header of a response that was sent before. */
export const REPLAYED_HEADER = "Idempotency-Replayed";

/** Identifies the caller of a request. */
export type CallerOf = (request: Request) => string | Promise<string>;

/**
 * The key of a request and its caller as one text of 43 characters, from which neither can be read; `null` if a
 * request has no key, its method is safe, or its caller is unknown.
 *
 * @param caller - By default, `Authorization` with the App's API keys, else the cookies, else the client's address.
 * @throws HTTPException 400 for a key that is empty, too long, or not the only one.
 */
export async function storageKeyOf(request: Request, header: string, caller?: CallerOf): Promise<string | null> {
  const keys = keysOf(request.scope, header.toLowerCase());
  if (keys.length === 0) return null;
  if (!isOneKey(keys)) throw refusal("key");
  const known = caller === undefined ? knownCaller(request.scope) : ["key", await caller(request)];
  return known === null ? null : storedNameOf(known, keys[0]);
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

/** The response to a request with a key that is in use, or that belongs to another request. */
export function refusal(reason: keyof typeof REFUSALS): HTTPException {
  const { statusCode, detail } = REFUSALS[reason];
  const headers = reason === "running" ? REFUSALS.running.headers : undefined;
  return new HTTPException(statusCode, detail, headers && { headers });
}
