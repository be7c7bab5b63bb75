/** Requests that no client writes: parts of the tables, recombined. */
import * as fc from "../../../../test/support/fast-check.js";
import { accepted, HOST, refused } from "./_http1-table.js";

/** The requests of both tables that are short enough to be tried at every byte. */
export const tableRequests: readonly string[] = [...refused, ...accepted]
  .map(([, request]) => request)
  .filter((request) => request.length <= 4000);

/** Chunked bodies, with any possible content. */
export const chunkedBodies: readonly string[] = [
  "3\r\nabc\r\n0\r\n\r\n",
  "0\r\n\r\n",
  "00003\r\nabc\r\n000\r\nX: a\r\nY:\tb \r\n\r\n",
  `3 ; ext = "a b";b\r\nabc\r\nA;q="\\""\r\n0123456789\r\n0;x\r\n\r\n`,
  "1fffffffffffff\r\nabc",
  "3\r\nabc\r\n0\r\nContent-Length: 3\r\n\r\n",
];

/** Requests of any kind. */
export const requests: readonly string[] = [
  ...tableRequests,
  ...chunkedBodies.map((body) => `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${body}`),
  `POST / HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabc`,
  `GET /a?b HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`,
  "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
  `LABEL /a HTTP/1.1\r\n${HOST}\r\n`,
  `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`,
];

/** Cases in which parsers have disagreed, as fragments. */
const pieces = [
  ...'\r\n\t \0:;,="\\/?#%*+-_.@[]0159aAfFxzGH\x7f\x80\xe9\xff'.split(""),
  "\r\n",
  "\r\n\r\n",
  "\n\n",
  "\r\r\n",
  "  ",
  "0x",
  "HTTP/1.0",
  "HTTP/1.1",
  "HTTP/2.0",
  " HTTP/1.1\r\n",
  "GET",
  "POST / HTTP/1.1\r\nHost: a\r\n",
  "OPTIONS * HTTP/1.1\r\n",
  "http://b:80/c",
  "Host: a\r\n",
  "Host: b\r\n",
  "Connection: close\r\n",
  "Connection: keep-alive\r\n",
  "Content-Length: 0\r\n",
  "Content-Length: 3\r\n",
  "Content-Length:\t3 \r\n",
  "Transfer-Encoding: chunked\r\n",
  "Transfer-Encoding : chunked\r\n",
  "Transfer-Encoding:\r\n chunked\r\n",
  "Transfer-Encoding: chunked, identity\r\n",
  "Expect: 100-continue\r\n",
  "X: a\r\n",
  "abc",
  "a".repeat(30),
  "a".repeat(300),
  "3\r\nabc\r\n",
  '3;a="b"\r\nabc\r\n',
  "0\r\n\r\n",
  "0\r\nX: a\r\n\r\n",
];

interface Mutation {
  at: number;
  cut: number;
  put: string;
}
const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(400),
  cut: fc.oneof(fc.constant(0), fc.nat(3), fc.nat(30)),
  put: fc.oneof(
    fc.constantFrom(...pieces),
    fc.constant(""),
    fc.nat(255).map((code) => String.fromCharCode(code)),
  ),
});

function mutate(text: string, mutations: readonly Mutation[]): string {
  let changed = text;
  for (const { at, cut, put } of mutations) {
    const from = at % (changed.length + 1);
    changed = changed.slice(0, from) + put + changed.slice(from + cut);
  }
  return changed;
}

/** These texts, with up to `max` places changed. */
export function mutated(texts: fc.Arbitrary<string>, max = 3): fc.Arbitrary<string> {
  return fc.tuple(texts, fc.array(mutation, { maxLength: max })).map(([text, mutations]) => mutate(text, mutations));
}

/** Texts of which one of these is the pattern, with up to `max` places changed. */
export function mutationsOf(texts: readonly string[], max = 3): fc.Arbitrary<string> {
  return mutated(fc.constantFrom(...texts), max);
}

/** The same text in pieces. */
export function inPieces(text: string, cuts: readonly number[]): string[] {
  const ends = [...new Set(cuts.map((at) => at % (text.length + 1)))].toSorted((a, b) => a - b);
  return [...ends, text.length]
    .map((end, index) => text.slice(ends[index - 1] ?? 0, end))
    .filter((part) => part !== "");
}

/** Data that a connection can send: up to three pipelined requests. */
export const connections: fc.Arbitrary<string> = fc
  .array(mutationsOf(requests), { minLength: 1, maxLength: 3 })
  .map((all) => all.join(""));
