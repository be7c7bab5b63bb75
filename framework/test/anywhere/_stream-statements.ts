/** Statements about streams, disconnects and work after the response. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { assertStatus, type Check, type Statement } from "./_statement.js";

/** An event of the application, and when it arrived. */
interface Arrival {
  readonly number: number;
  /** Milliseconds since 1970, by the clock of the application. */
  readonly made: number;
  readonly arrived: number;
}

/** Milliseconds between two events: more than a busy machine delays one. */
const EVERY_MS = 300;

async function open(url: string): Promise<IncomingMessage> {
  const [response] = (await once(get(url, { agent: false }), "response")) as [IncomingMessage];
  return response;
}

/** Reads the events of a stream, each with the time of its arrival. */
async function arrivalsOf(response: IncomingMessage): Promise<Arrival[]> {
  const arrivals: Arrival[] = [];
  let text = "";
  for await (const chunk of response as AsyncIterable<Buffer>) {
    text += chunk.toString();
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) arrivals.push({ ...(JSON.parse(data) as Omit<Arrival, "arrived">), arrived: Date.now() });
    }
  }
  return arrivals;
}

/** Waits until the application has noted a text under a key. Each request is a round trip, so this does not spin. */
async function noted({ send, key }: Check, text: string): Promise<void> {
  for (let tries = 0; tries < 2000; tries++) {
    const answer = await send("GET", `/notes/${key}`);
    if ((answer.json as string[]).includes(text)) return;
  }
  throw new Error(`The application has not noted "${text}".`);
}

export const streams: readonly Statement[] = [
  {
    title: "server-sent events have their type and arrive in order",
    check: async ({ url }) => {
      const response = await open(`${url}/events?count=3&every=1`);
      assert.equal(response.statusCode, 200);
      assert.match(response.headers["content-type"] ?? "", /^text\/event-stream/);
      assert.deepEqual(
        (await arrivalsOf(response)).map(({ number }) => number),
        [1, 2, 3],
      );
    },
  },
  {
    title: "each server-sent event arrives before the application makes the last one",
    needs: ["response streams"],
    check: async ({ url }) => {
      const arrivals = await arrivalsOf(await open(`${url}/events?count=4&every=${EVERY_MS}`));
      const [first, , third, last] = arrivals;
      assert.ok(first !== undefined && third !== undefined && last !== undefined, `${arrivals.length} events`);
      assert.ok(
        first.arrived < third.made,
        `the first arrived ${first.arrived - third.made} ms after the third was made`,
      );
      assert.ok(last.made - first.made >= 2 * EVERY_MS, `${last.made - first.made} ms between the first and the last`);
    },
  },
  {
    title: "a generator is closed if the client disconnects",
    needs: ["response streams", "disconnects"],
    check: async (context) => {
      const response = await open(`${context.url}/endless/${context.key}`);
      await once(response, "data");
      response.destroy();
      await noted(context, "closed");
    },
  },
  {
    title: "a request after a disconnect is served",
    needs: ["response streams", "disconnects"],
    check: async ({ url, send, key }) => {
      const response = await open(`${url}/endless/${key}`);
      await once(response, "data");
      response.destroy();
      assertStatus(await send("GET", "/"), 200);
    },
  },
  {
    title: "a background task runs after the response",
    check: async (context) => {
      const answer = await context.send("GET", `/background/${context.key}`);
      assert.equal(answer.json, "accepted");
      await noted(context, "done");
    },
  },
  {
    title: "twenty concurrent requests get their own responses",
    check: async ({ send }) => {
      const ids = Array.from({ length: 20 }, (_, index) => index + 1);
      const answers = await Promise.all(ids.map((id) => send("GET", `/items/${id}`)));
      assert.deepEqual(
        answers.map(({ json }) => (json as { id: number }).id),
        ids,
      );
    },
  },
];
