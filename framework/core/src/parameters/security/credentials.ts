/** Credentials of a request: read from `Authorization`, and compared with the expected ones. @module */
import { encodeUTF8 } from "../../protocol/header-list.js";
import { TCHAR } from "../../protocol/http-grammar.js";
import { Header } from "../head.js";
import type { Marker } from "../marker.js";
import { t } from "../../schema/schema.js";

/** Every `Authorization` header of the request. The document lists the scheme instead. */
export const AUTHORIZATION: Marker<readonly string[]> = Header(t.Array(t.String()), {
  alias: "authorization",
  default: [],
  includeInSchema: false,
});

/** RFC 9110 §11.4: a scheme in any case, spaces, and its credentials; a comma would begin the next challenge or header. */
const CREDENTIALS = new RegExp(`^([${TCHAR}]+) +([!-+\\--~]+)$`);

/** A header's scheme, as it was written, and its credentials. */
export interface HTTPAuthorizationCredentials {
  readonly scheme: string;
  readonly credentials: string;
}

/** Parses a header of one scheme; `null` for another scheme or no header. */
export function parseAuthorization(text: string, scheme: string): HTTPAuthorizationCredentials | null {
  const [, given, credentials] = CREDENTIALS.exec(text) ?? [];
  if (given === undefined || credentials === undefined || given.toLowerCase() !== scheme) return null;
  return { scheme: given, credentials };
}

/**
 * Compares two secrets in a time that does not depend on where they differ, but only on the length of `given`, which
 * its sender knows. No value equals an empty secret: a variable that was never set is not a password.
 *
 * @param given - The secret that a client sent.
 * @param expected - What it should be.
 * @example
 * ```ts
 * import { compareSecrets } from "tsgi/security";
 *
 * console.log(compareSecrets("s3cret", "s3cret")); // true
 * console.log(compareSecrets("", "")); // false
 * ```
 */
export function compareSecrets(given: string, expected: string): boolean {
  const left = encodeUTF8(given);
  const right = encodeUTF8(expected);
  // With another length it is compared with itself: the same work, and only the lengths decide.
  const other = left.length === right.length ? right : left;
  let difference = left.length ^ right.length;
  for (let index = 0; index < left.length; index++) difference |= (left[index] as number) ^ (other[index] as number);
  return difference === 0 && right.length > 0;
}
