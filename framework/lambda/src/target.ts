/** The target of a request: the path and the query of an event in the form of a request line. @module */
import { pairsOf, type ReadEvent, textAt } from "./event.js";

/** Characters that no encoded path has (RFC 3986 §3.3), and a `%` without two digits. */
const NOT_IN_PATH = /%(?![\da-f]{2})|[^\w\-.~!$&'()*+,;=:@/%]/giu;
/** The same for a query: RFC 3986 §3.4. */
const NOT_IN_QUERY = /%(?![\da-f]{2})|[^\w\-.~!$&'()*+,;=:@/?%]/giu;

const encoder = new TextEncoder();

function escapeWith(pattern: RegExp, text: string): string {
  return text.replaceAll(pattern, (character) =>
    Array.from(encoder.encode(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""),
  );
}

/**
 * The path and the query, percent-encoded. REST APIs, function URLs and load balancers pass the path as the client encoded
 * it. HTTP APIs decode it, so only characters that an encoded path cannot have are escaped. The prefix of a stage remains.
 */
export function targetOf({ source, path, fields }: ReadEvent): string {
  const escaped = escapeWith(NOT_IN_PATH, path);
  const query = source === "v2" ? (textAt(fields, "rawQueryString") ?? decodedQuery(fields)) : queryOf(source, fields);
  const target = escaped.startsWith("/") ? escaped : `/${escaped}`;
  return query === "" ? target : `${target}?${escapeWith(NOT_IN_QUERY, query)}`;
}

/** API Gateway decodes the names and values of a query, and a load balancer does not. */
function queryOf(source: ReadEvent["source"], fields: ReadEvent["fields"]): string {
  if (source === "v1") return decodedQuery(fields);
  return parametersOf(fields)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

function decodedQuery(fields: ReadEvent["fields"]): string {
  const parameters = new URLSearchParams(parametersOf(fields).map(([name, value]): [string, string] => [name, value]));
  return parameters.toString().replaceAll("+", "%20");
}

const parametersOf = (fields: ReadEvent["fields"]) =>
  pairsOf(fields, "multiValueQueryStringParameters", "queryStringParameters");
