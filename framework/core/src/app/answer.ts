/** Headers and cookies of the injected `Response`, added to the response that is sent. @module */
import type { Send } from "../protocol/asgi.js";
import { HeaderList, rawHeaders } from "../protocol/header-list.js";
import type { Response } from "../http/response/response.js";

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
    const raw = rawHeaders(message.headers);
    const names = raw.map((text, index) => (index % 2 === 0 ? text.toLowerCase() : ""));
    const added = [...draft.headers].filter(([name]) => {
      // The length is what the answer is long.
      if (name === "content-length") return false;
      return name === "set-cookie" || wins || !names.includes(name);
    });
    const replaced = new Set(added.map(([name]) => name).filter((name) => name !== "set-cookie"));
    const kept = raw.filter((_, index) => !replaced.has(names[index & ~1] as string));
    return send({ ...message, headers: new HeaderList([...kept, ...added.flat()]) });
  };
}
