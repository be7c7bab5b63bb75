/** Bulletins: messages to all who listen, and logs that a reader continues after a disconnect. @module */
import {
  type Backplane,
  type BackplaneEvents,
  Broadcast,
  type BroadcastOptions,
  postgresBackplane,
  type Produce,
  type ReadOptions,
  redisBackplane,
  SlowSubscriberError,
  type StreamEvent,
  StreamFailedError,
  StreamLog,
  type StreamLogOptions,
  type StreamOwner,
  type StreamStatus,
  type SubscribeOptions,
  type Subscription,
  UnavailableError,
} from "@tsgi/broadcast";
import { Depends, Header, HTTPException, Query, Router, t } from "tsgi";

const Bulletin = t.Object({ text: t.String() });
const Line = t.Object({ n: t.Integer() });

interface Text {
  text: string;
}
type Topics = Record<string, Text>;

/** A backplane of one process, which rejects messages to the topic `outage`. */
class Counter implements Backplane {
  #events: BackplaneEvents | null = null;

  async open(events: BackplaneEvents): Promise<void> {
    this.#events = events;
  }

  async subscribe(): Promise<void> {}

  unsubscribe(): void {}

  async publish(topic: string, text: string): Promise<void> {
    if (topic === "outage") throw new UnavailableError();
    this.#events?.message(topic, JSON.parse(text));
  }

  async close(): Promise<void> {
    this.#events = null;
  }
}

function backplaneAt(url: string): Backplane {
  if (url.startsWith("redis:")) return redisBackplane(url);
  return url.startsWith("postgres") ? postgresBackplane(url) : new Counter();
}

const kept: StreamLogOptions = { memory: true, keepSeconds: 60, maxEvents: 100 };

/** Counts to a number, and then fails if it is negative. */
const counting = (last: number): Produce<{ n: number }> =>
  async function* ({ signal }) {
    for (let n = 1; n <= Math.abs(last) && !signal.aborted; n++) yield { n };
    if (last < 0) throw new Error("a secret of the producer");
  };

async function collect(events: AsyncIterable<StreamEvent<{ n: number }>>) {
  const lines: string[] = [];
  try {
    for await (const { id, data } of events) lines.push(`${id}: ${data.n}`);
  } catch (error) {
    if (!(error instanceof StreamFailedError)) throw error;
    return { lines, failed: true };
  }
  return { lines, failed: false };
}

/** @param url - Of a server that several processes share. By default, the bulletins are for this process. */
export function createBulletins(url = "") {
  const broadcast = Depends(
    async function* () {
      const options: BroadcastOptions = { backplane: backplaneAt(url) };
      const opened = new Broadcast<Topics>(options);
      yield opened;
      await opened.close();
    },
    { scope: "app" },
  );
  const log = Depends(
    async function* () {
      const opened = new StreamLog(kept);
      yield opened;
      await opened.close();
    },
    { scope: "app" },
  );
  const owner = Header(t.Union([t.String(), t.Null()]), { alias: "x-owner", default: null });
  const router = new Router({ prefix: "/bulletins", tags: ["bulletins"] });
  const ownedBy = (name: string | null): StreamOwner => (name === null ? {} : { owner: name });

  const publish = router.post(
    "/{topic}",
    { params: { bulletin: Bulletin, broadcast }, statusCode: 204 },
    async ({ topic, bulletin, broadcast }) => broadcast.publish(topic, bulletin),
  );

  /** Publishes the bulletins of a visitor, and sends all bulletins up to the last of these. */
  const listen = router.get(
    "/{topic}",
    {
      params: { say: Query(t.Array(t.String())), buffer: t.Integer({ default: 8 }), broadcast, signal: AbortSignal },
      stream: "sse",
      returns: Bulletin,
    },
    async function* ({ topic, say, buffer, broadcast, signal }) {
      const options: SubscribeOptions = { buffer, signal };
      using messages: Subscription<Text> = await broadcast.subscribe(topic, options);
      for (const text of say) await broadcast.publish(topic, { text });
      try {
        for await (const message of messages) {
          yield message;
          if (message.text === say.at(-1)) return;
        }
      } catch (error) {
        throw error instanceof SlowSubscriberError ? new HTTPException(429, error.message) : error;
      }
    },
  );

  const start = router.put(
    "/logs/{id}",
    { params: { last: t.Integer(), owner, log }, statusCode: 202 },
    async ({ id, last, owner, log }) => {
      await log.start(id, counting(last), ownedBy(owner));
      return { started: id };
    },
  );

  const read = router.get(
    "/logs/{id}",
    { params: { owner, log }, stream: "sse", returns: Line },
    async ({ id, owner, log }) => log.read<{ n: number }>(id, ownedBy(owner)),
  );

  const all = router.get(
    "/logs/{id}/all",
    { params: { after: t.Integer({ default: 0 }), owner, log } },
    async ({ id, after, owner, log }) => {
      const options: ReadOptions = { after, ...ownedBy(owner) };
      const found = await collect(log.read<{ n: number }>(id, options));
      const status: StreamStatus = await log.status(id, ownedBy(owner));
      return { ...found, status };
    },
  );

  const stop = router.delete("/logs/{id}", { params: { owner, log } }, async ({ id, owner, log }) => ({
    stopped: await log.stop(id, ownedBy(owner)),
  }));

  return { router, publish, listen, start, read, all, stop };
}
