/** Headers of a test's requests. @module */
import { type HeadersInit, ResponseHeaders } from "../../http/response/headers.js";

/** Headers with others in the place of those of the same name. */
export function withHeaders(base: HeadersInit, others?: HeadersInit): ResponseHeaders {
  const headers = new ResponseHeaders(base);
  const given = new ResponseHeaders(others);
  for (const [name] of given) headers.delete(name);
  for (const [name, value] of given) headers.append(name, value);
  return headers;
}
