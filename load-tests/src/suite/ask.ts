/** One request over a connection of its own. @module */
import { request as requestHTTP, type IncomingMessage } from "node:http";
import { request as requestHTTPS } from "node:https";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { Case, Reply } from "./case.js";

/** Sends the request of a case. A certificate is not checked: the run has signed it itself. */
export async function ask(url: string, { method, path, headers, body }: Case): Promise<Reply> {
  const target = new URL(path, url);
  const options = { method, headers: { ...headers }, agent: false };
  const request =
    target.protocol === "https:"
      ? requestHTTPS(target, { ...options, rejectUnauthorized: false })
      : requestHTTP(target, options);
  request.end(body ?? undefined);
  // The event of a client's request has the one argument that Node documents.
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const lines = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const);
  return { status: response.statusCode ?? 0, headers: Object.fromEntries(lines), body: await text(response) };
}
