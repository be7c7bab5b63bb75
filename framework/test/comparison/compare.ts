/** The same requests to both applications, and the differences of their responses. */
import { gunzipSync } from "node:zlib";
import { WebSocket } from "ws";
import type { Answer } from "../support/call.js";
import { sendTo } from "../support/send.js";
import { type Asked, REQUESTS, type Talk, TALKS } from "./requests.js";

/** The compared parts of a response: `status`, `body`, and these headers. */
const HEADERS = [
  "accept-ranges",
  "access-control-allow-credentials",
  "access-control-allow-headers",
  "access-control-allow-methods",
  "access-control-allow-origin",
  "access-control-expose-headers",
  "access-control-max-age",
  "allow",
  "content-disposition",
  "content-encoding",
  "content-length",
  "content-range",
  "content-type",
  "etag",
  "last-modified",
  "location",
  "set-cookie",
  "vary",
  "www-authenticate",
  "x-draft",
  "x-reason",
];

/** The parts of a response by name. */
type Parts = Readonly<Record<string, string>>;

/** One part of a response that differs. */
export interface Difference {
  readonly name: string;
  readonly part: string;
  readonly theirs: string;
  readonly ours: string;
}

/** Values that are never the same on two servers, though both are right. */
function normalise(name: string, value: string, url: string): string {
  if (name === "etag") return "an entity tag";
  if (name === "location") return value.replace(url, "");
  return value;
}

function partsOf(answer: Answer, url: string): Parts {
  const { body } = answer;
  const isZipped = answer.headers["content-encoding"] === "gzip";
  const parts: Record<string, string> = {
    status: String(answer.status),
    body: (isZipped ? gunzipSync(body) : body).toString("utf8"),
  };
  for (const name of HEADERS) {
    const values = answer.headerLines.filter((line) => line[0].toLowerCase() === name).map((line) => line[1]);
    if (values.length > 0) parts[name] = normalise(name, values.join(" | "), url);
  }
  // Its value follows from a body that is compared already, and from the compressor.
  if (parts["content-length"] !== undefined) parts["content-length"] = "there";
  return parts;
}

async function ask({ method, target, sent }: Asked, url: string): Promise<Parts> {
  const { vary, ...parts } = partsOf(await sendTo(url, method, target, sent), url);
  // One row of the page describes `Vary` of every other response.
  const isAsked = [...(sent?.headers ?? [])].some(([name]) => /^(?:origin|accept-encoding)$/i.test(name));
  return isAsked && vary !== undefined ? { ...parts, vary } : parts;
}

/** Sends, and records the response to the handshake, the messages, and the end. */
function talk({ path, headers = {}, subprotocols = [], says = [], closes }: Talk, url: string): Promise<Parts> {
  const client = new WebSocket(url.replace("http", "ws") + path, [...subprotocols], { headers });
  const heard: string[] = [];
  let handshake = "";
  return new Promise((resolve) => {
    client.on("error", () => {});
    client.on("upgrade", ({ headers: answer }) => {
      handshake = [answer["sec-websocket-protocol"], answer["x-room"]].join(" ").trim();
    });
    client.on("open", () => {
      for (const message of says) client.send(message);
    });
    client.on("message", (data: Buffer, isBinary) => {
      heard.push(isBinary ? `bytes ${data.toString("hex")}` : data.toString());
      if (closes !== undefined && heard.length === says.length) client.close(closes);
    });
    client.on("unexpected-response", (request, response) => {
      void response.toArray().then((chunks) => {
        request.destroy();
        resolve({
          end: `status ${response.statusCode}`,
          handshake: "",
          messages: "",
          body: Buffer.concat(chunks).toString(),
        });
      });
    });
    client.on("close", (code, reason) => {
      const end = `code ${code} ${reason.toString()}`.trimEnd();
      resolve({ end, handshake, messages: heard.join(" "), body: "" });
    });
  });
}

function differences(name: string, theirs: Parts, ours: Parts): Difference[] {
  const parts = new Set([...Object.keys(theirs), ...Object.keys(ours)]);
  return [...parts]
    .filter((part) => theirs[part] !== ours[part])
    .map((part) => ({ name, part, theirs: theirs[part] ?? "none", ours: ours[part] ?? "none" }));
}

/** Asks both applications everything, one thing after the other. */
export async function compare(theirUrl: string, ourUrl: string): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const asked of REQUESTS) {
    found.push(...differences(asked.name, await ask(asked, theirUrl), await ask(asked, ourUrl)));
  }
  for (const spoken of TALKS) {
    found.push(...differences(spoken.name, await talk(spoken, theirUrl), await talk(spoken, ourUrl)));
  }
  return found;
}
