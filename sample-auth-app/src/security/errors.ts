import { HTTPException } from "tsgi";

import { problem } from "../models.js";

export const NOT_VALIDATED = "Could not validate credentials";
const NOT_ENOUGH_SCOPES = "Not enough scopes";

/** The errors of each route that requires a token, for the OpenAPI document. */
export const responses = { 401: problem(NOT_VALIDATED), 403: problem(NOT_ENOUGH_SCOPES) };

/** The response to any token error. It is always the same, so that clients cannot tell the errors apart. */
export function credentialsException(): HTTPException {
  return new HTTPException(401, NOT_VALIDATED, { headers: { "WWW-Authenticate": "Bearer" } });
}

/** The response to a token with insufficient scopes (RFC 6750 §3.1). */
export function insufficientScope(scopes: readonly string[]): HTTPException {
  const needed = scopes.length > 0 ? `, scope="${scopes.join(" ")}"` : "";
  const headers = { "WWW-Authenticate": `Bearer error="insufficient_scope"${needed}` };
  return new HTTPException(403, NOT_ENOUGH_SCOPES, { headers });
}
