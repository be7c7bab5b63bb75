import { createInterface } from "node:readline";
import { Readable } from "node:stream";

/** The stream of a user's new items, at one replica. It is subscribed when this returns. */
export async function follow(url: string, token: string, lastEventId = "0") {
  const headers = { authorization: `Bearer ${token}`, "last-event-id": lastEventId };
  const leave = new AbortController();
  const { body } = await fetch(new URL("/items/live", url), { headers, signal: leave.signal });
  const lines = createInterface(Readable.fromWeb(body!))[Symbol.asyncIterator]();
  await lines.next(); // of the first event, which is sent after the subscription
  return {
    /** The id and the data of the next event that has data; `null` at the end. */
    next: async () => {
      for (let id: string | null = null; ;) {
        const { done, value = "" } = await lines.next();
        if (done) {
          return null;
        }
        const [, field, text = ""] = /^(id|data): (.*)$/.exec(value) ?? [];
        if (field === "data") {
          return { id, data: JSON.parse(text) };
        }
        id = field === "id" ? text : id;
      }
    },
    [Symbol.dispose]: () => leave.abort(),
  };
}
