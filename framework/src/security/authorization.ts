import { TCHAR } from "../http-grammar.js";
import { Header, type Marker } from "../params.js";
import { t } from "../schema.js";

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

/** Parses a header of one scheme; `null` for one of another, or of none. */
export function parseAuthorization(text: string, scheme: string): HTTPAuthorizationCredentials | null {
  const [, given, credentials] = CREDENTIALS.exec(text) ?? [];
  if (given === undefined || credentials === undefined || given.toLowerCase() !== scheme) return null;
  return { scheme: given, credentials };
}
