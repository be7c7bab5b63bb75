/**
 * Requests that attack the path from the socket to the application, as they are sent, and their responses on every
 * runtime.
 */
import { Wire } from "../../core/test/platforms/node/_http.js";

const HOST = "Host: example.org\r\n";
const END = "Connection: close\r\n\r\n";
const get = (target: string, headers = HOST) => `GET ${target} HTTP/1.1\r\n${headers}${END}`;
const post = (headers: string, body: string) => `POST /text HTTP/1.1\r\n${HOST}${headers}${END}${body}`;

const refused = /^HTTP\/1\.1 4\d\d /;
const asScope = /"path":"\/scope"/;
/** Bytes beyond ASCII in a target are refused, or are the same as their percent-encoding. */
const snow = /^HTTP\/1\.1 400 |\["\xe2\x98\x83","x"\]/;

export const attacks: readonly (readonly [rule: string, request: string, answer: RegExp])[] = [
  ["a path in Host does not become that of the request", get("/scope", "Host: a/users/me?\r\n"), /^HTTP\/1\.1 400 /],
  ["a fragment in Host does not hide the path", get("/scope", "Host: a/users/me#\r\n"), /^HTTP\/1\.1 400 /],
  ["user information in Host", get("/scope", "Host: u@a\r\n"), /^HTTP\/1\.1 400 /],
  ["a backslash in Host", get("/scope", "Host: a\\users\\me\r\n"), /^HTTP\/1\.1 400 /],
  ["an empty Host", get("/scope", "Host:\r\n"), /^HTTP\/1\.1 400 /],
  ["two Hosts", get("/scope", "Host: a\r\nHost: b\r\n"), /^HTTP\/1\.1 400 /],
  ["a port that does not exist in Host", get("/scope", "Host: a:99999\r\n"), /^HTTP\/1\.1 400 /],
  ["no Host does not lead to another route", get("/scope", ""), /^HTTP\/1\.1 400 |"path":"\/scope"/],
  ["the absolute form", get("http://other.test/scope"), asScope],
  ["a target that looks like an address", get("//users/me"), /"me"$/],
  ["a backslash in the target", get("/users\\7"), /^HTTP\/1\.1 4\d\d |\{"id":7\}/],
  ["UTF-8 in the target", get("/users/\xe2\x98\x83/posts/x"), snow],
  ["bytes that are not UTF-8 in the target", get("/users/\xe2/posts/x"), /^HTTP\/1\.1 400 |\["\xef\xbf\xbd","x"\]/],
  ["UTF-8 in the query", get("/scope?a=\xe2\x98\x83"), /^HTTP\/1\.1 400 |"query":"a=%E2%98%83"/],
  ["a fragment in the target", get("/scope#/x"), /^HTTP\/1\.1 400 |"path":"\/scope"/],
  ["two lengths", post("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"), refused],
  ["a negative length", post("Content-Length: -1\r\n", ""), refused],
  ["a length with a sign", post("Content-Length: +3\r\n", "abc"), refused],
  [
    "a length beside chunks counts for nothing",
    post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"),
    /^HTTP\/1\.1 400 |"hello"$/,
  ],
  ["a folded header line", get("/headers/all", `${HOST}X-A: a\r\n b\r\n`), refused],
  ["a space before the colon", get("/headers/all", `${HOST}X-A : a\r\n`), refused],
  ["NUL in a header", get("/headers/all", `${HOST}X-A: a\0b\r\n`), refused],
  ["a lone CR in a header", get("/headers/all", `${HOST}X-A: a\rb\r\n`), refused],
  [
    "a character that is a line feed in Latin-1",
    get("/headers/all", `${HOST}X-A: \xc4\x8a\r\n`),
    /"x-a":"\xc3\x84\xc2\x8a"/,
  ],
];

/** Sends bytes on a separate connection, and returns all received bytes. */
export async function sendRaw(port: number, request: string): Promise<string> {
  await using wire = new Wire(port);
  return await wire.write(request).closed;
}
