/** All that `serve` and Node's parser may disagree about, each with its rule. The page `http1.md` has the same list. */
import { METHODS } from "node:http";
import { isIPv6 } from "node:net";
import type { Outcome, View } from "./_http1-differential.js";

/** The first thing that two servers made differently of the same bytes. */
export interface Difference {
  text: string;
  /** The request that was served next, the status that refused it, or `null` where the connection ended without either. */
  ours: View | number | null;
  nodes: View | number | null;
  /** The request before it. */
  before: View | undefined;
  /** The status with which Node refused a request on the way, or `null`. */
  nodesRefusal: number | null;
}

/** The first difference, or `null`. */
export function differenceOf(text: string, ours: Outcome, nodes: Outcome): Difference | null {
  for (let index = 0; ; index++) {
    const [our, node] = [ours.views[index] ?? ours.refusal, nodes.views[index] ?? nodes.refusal];
    const before = ours.views[index - 1];
    if (JSON.stringify(our) !== JSON.stringify(node)) {
      return { text, ours: our, nodes: node, before, nodesRefusal: nodes.refusal };
    }
    if (our === null || typeof our === "number") return null;
  }
}

const isView = (value: View | number | null): value is View => typeof value === "object" && value !== null;
const valuesOf = (view: View, name: string) => view.headers.filter(([key]) => key === name).map(([, value]) => value);

function isHost(value: string): boolean {
  const [, literal, port] = /^(?:\[([^\]]*)\]|(?:[\w\-.~!$&'()*+,;=]|%[\da-f]{2})+)(?::(\d{0,5}))?$/i.exec(value) ?? [
    null,
    "x",
  ];
  // Node also accepts the zone of RFC 6874, which a Host does not have.
  const isAddress = literal === undefined || (isIPv6(literal) && !literal.includes("%"));
  return isAddress && Number(port ?? 0) <= 65_535;
}

function hasGoodHost(view: View): boolean {
  const hosts = valuesOf(view, "host");
  return hosts.length === 0 ? view.version === "1.0" : hosts.length === 1 && hosts.every(isHost);
}

function hasGoodTarget({ method, target }: View): boolean {
  if (/[^!-"$-~]/.test(target) || /%(?![\da-f]{2})/i.test(target.replace(/\?.*/, ""))) return false;
  if (target.startsWith("/")) return true;
  const [, authority] = /^https?:\/\/([^/?]*)/i.exec(target) ?? [];
  return target === "*" ? method === "OPTIONS" : authority !== undefined && isHost(authority);
}

function hasGoodCoding(view: View): boolean {
  const codings = valuesOf(view, "transfer-encoding");
  if (codings.length === 0) return true;
  const isChunked = codings.length === 1 && codings[0]?.toLowerCase() === "chunked";
  return isChunked && view.version === "1.1" && valuesOf(view, "content-length").length === 0;
}

export interface Rule {
  /** Its row in the documentation. */
  name: string;
  allows: (difference: Difference) => boolean;
}

/** RFC 9110 §6.5.1, as `serve` has it. */
const FORBIDDEN_TRAILER =
  /^(?:authorization|connection|content-length|cookie|expect|host|keep-alive|max-forwards|proxy-authorization|proxy-connection|set-cookie|te|trailer|transfer-encoding|upgrade):/im;

export const rules: readonly Rule[] = [
  {
    name: "status of a rejected request",
    allows: ({ ours, nodes }) => typeof ours === "number" && !isView(nodes),
  },
  { name: "`Host`", allows: ({ ours, nodes }) => ours === 400 && isView(nodes) && !hasGoodHost(nodes) },
  { name: "request target", allows: ({ ours, nodes }) => ours === 400 && isView(nodes) && !hasGoodTarget(nodes) },
  {
    name: "absolute form",
    allows: ({ ours, nodes }) =>
      isView(ours) && isView(nodes) && /^https?:\/\//i.test(nodes.target) && hasGoodTarget(nodes) && hasGoodHost(nodes),
  },
  {
    name: "`OPTIONS *`",
    // The server responds immediately; Node's waits for its body, and rejects an incomplete one.
    allows: ({ text, ours, nodes }) =>
      (isView(nodes) && nodes.method === "OPTIONS" && nodes.target === "*") ||
      (ours === null && nodes === 400 && text.startsWith("OPTIONS * ")),
  },
  {
    name: "`CONNECT`",
    allows: ({ text, nodes }) => nodes === null && text.includes("CONNECT "),
  },
  {
    name: "transfer codings",
    allows: ({ ours, nodes }) => (ours === 501 || ours === 400) && isView(nodes) && !hasGoodCoding(nodes),
  },
  {
    name: "number of header lines",
    allows: ({ ours, nodes }) => ours === 431 && isView(nodes) && nodes.headers.length > 100,
  },
  {
    name: "version",
    allows: ({ ours, nodes }) => (ours === 505 || ours === 400) && isView(nodes) && !/^1\.[01]$/.test(nodes.version),
  },
  {
    name: "spaces of the request line",
    allows: ({ text, ours, nodes }) => ours === 400 && isView(nodes) && /[A-Z] {2,}\S|\S {2,}HTTP\//.test(text),
  },
  {
    name: "trailers",
    allows: ({ text, ours, nodes }) =>
      (ours === 400 || ours === 431) &&
      isView(nodes) &&
      valuesOf(nodes, "transfer-encoding").length > 0 &&
      FORBIDDEN_TRAILER.test(text),
  },
  {
    name: "blanks in chunk extensions",
    allows: ({ text, ours, nodes }) =>
      isView(ours) &&
      !isView(nodes) &&
      /^[\da-f]+[\t ]*;/im.test(text) &&
      valuesOf(ours, "transfer-encoding").length > 0,
  },
  {
    name: "methods",
    allows: ({ ours, nodes }) => isView(ours) && !isView(nodes) && !METHODS.includes(ours.method),
  },
  {
    name: "`Expect`",
    allows: ({ ours, nodes }) =>
      (isView(ours) && !isView(nodes) && ours.version === "1.0" && valuesOf(ours, "expect").length > 0) ||
      (ours === 417 && isView(nodes) && valuesOf(nodes, "expect").join().toLowerCase() !== "100-continue"),
  },
  {
    name: "blanks around `Content-Length` and `Transfer-Encoding`",
    allows: ({ text, ours, nodes }) =>
      isView(ours) && !isView(nodes) && /^(?:content-length|transfer-encoding):(?:.*\t.*|.* )\r$/im.test(text),
  },
  {
    // Node's parser treats the preface of HTTP/2 as an upgrade, and node:http drops the requests before it too.
    name: "`Upgrade`",
    allows: ({ text, before, nodes }) =>
      nodes === null && ((before !== undefined && valuesOf(before, "upgrade").length > 0) || /^PRI \*/m.test(text)),
  },
  {
    name: "empty lines, bare CR and bare LF",
    // A body that ends with CR makes a bare LF after it look like the end of a line.
    allows: ({ text, before, ours, nodes }) =>
      ours === 400 &&
      isView(nodes) &&
      (before?.body.endsWith("\r") === true || /(?<!\r)\n|\r(?!\n)|(?:\r\n){17}/.test(text)),
  },
  {
    name: "requests after a rejected one",
    allows: ({ ours, nodes, nodesRefusal }) => typeof ours === "number" && isView(nodes) && nodesRefusal !== null,
  },
];

/** The rule that allows a difference, or `null`. */
export function ruleOf(difference: Difference): Rule | null {
  return rules.find((rule) => rule.allows(difference)) ?? null;
}
