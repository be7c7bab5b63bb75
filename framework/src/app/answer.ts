import type { HeaderPair, Send } from "../asgi.js";
import { decodeLatin1, HeaderList } from "../datastructures.js";
import type { Call } from "../dependencies.js";
import { type Response, sendJSON } from "../response.js";
import { isDisconnect } from "./errors.js";

/** Sends for a call, and keeps in it how far the answer has come. */
export function trackedSend(call: Call): Send {
  return (message) => {
    if (message.type === "http.response.start") call.started = true;
    // Before it is handed over: a server says at once that there is nothing more to come.
    else if (message.type === "http.response.body" && !message.more_body) call.requestIfMade?.markFinished();
    return call.send(message);
  };
}

function ignoreDisconnect(error: unknown): void {
  if (!isDisconnect(error)) throw error;
}

/** Sends the JSON text of a result. The departure of its client is no error of the application. */
export function sendResult(send: Send, statusCode: number, text: string, headOnly: boolean): Promise<void> | void {
  try {
    const sent = sendJSON(send, statusCode, text, headOnly);
    if (sent) return sent.then(undefined, ignoreDisconnect);
  } catch (error) {
    ignoreDisconnect(error);
  }
}

function rawOf(headers: Iterable<HeaderPair> | undefined): readonly string[] {
  if (headers instanceof HeaderList) return headers.raw;
  return [...(headers ?? [])].flatMap(([name, value]) => [decodeLatin1(name).toLowerCase(), decodeLatin1(value)]);
}

/**
 * Puts the headers and the cookies of a draft on whatever answer passes: the answer itself stays what it is, and may be
 * given to many requests.
 *
 * @param wins - Whether the draft's headers replace those of the answer: they do where the framework made it of a
 * result, not where the handler made it itself.
 */
export function withDraft(send: Send, draft: Response, wins: boolean): Send {
  return (message) => {
    if (message.type !== "http.response.start") return send(message);
    const raw = rawOf(message.headers);
    const has = (name: string) => raw.some((text, index) => index % 2 === 0 && text === name);
    const added = [...draft.headers].filter(([name]) => {
      // The length is what the answer is long.
      if (name === "content-length") return false;
      return name === "set-cookie" || wins || !has(name);
    });
    const replaced = new Set(added.map(([name]) => name).filter((name) => name !== "set-cookie"));
    const kept = raw.filter((_, index) => !replaced.has(raw[index & ~1] as string));
    return send({ ...message, headers: new HeaderList([...kept, ...added.flat()]) });
  };
}
