/** The requests of a suite, and the check of their responses. @module */
import { type Example, faultOf } from "../examples.js";

/** A response, its header names in lower case. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One request of a suite. */
export interface Case {
  readonly name: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** True if every response has the same body. */
  readonly isConstant: boolean;
  /** The error of a response in one line, or `null` if it is right. */
  readonly check: (reply: Reply) => string | null;
}

/** The case of an example. */
export function toCase(example: Example): Case {
  const { name, method, path, body } = example;
  const headers = { ...example.headers, ...(body === null ? {} : { "content-type": "application/json" }) };
  const check = ({ status, headers: lines, body: text }: Reply): string | null =>
    faultOf(example, { status, contentType: lines["content-type"] ?? "", body: text });
  return { name, method, path, headers, body, isConstant: true, check };
}

/** Sends the request of a case and reads the response. */
export async function ask(url: string, { method, path, headers, body }: Case): Promise<Reply> {
  const response = await fetch(url + path, { method, body, headers });
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}
