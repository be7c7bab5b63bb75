/** The client's part of each scene. @module */
import { setTimeout as sleep } from "node:timers/promises";
import type { Row } from "../report.js";
import { type Incoming, openEvents, openKeepAlive, openMany, openWebSocket, untilAll } from "./connections.js";
import { faultOfEvent } from "./feed.js";
import type { RealtimeLoad, Scene } from "./load.js";
import { NumberedMessage } from "./messages.js";
import { watchProcessor } from "../processor-time.js";
import { measureUse, settledKiB } from "./server-use.js";

/** Messages for each connection, and events for each stream, before the measured ones. */
const WARM_UP = 10;
/** Bytes of a small message, as of a chat, and of a large one. */
const SMALL = 64;
const LARGE = 4_096;
/** Messages of a broadcast that are on their way at the same time. */
const IN_FLIGHT = 4;
/** Connections that are opened and closed before the memory is read the first time. */
const TRIAL = 50;

/** Measures a scene. */
export const MEASURES: Readonly<Record<Scene, (load: RealtimeLoad) => Promise<Row>>> = {
  echo: (load) => measureEcho("echo, 64 B", SMALL, load),
  "large echo": (load) => measureEcho("echo, 4 KB", LARGE, load),
  broadcast: measureBroadcast,
  events: measureEvents,
  "idle HTTP": (load) => measureIdle("idle HTTP", load, () => openKeepAlive(load.url)),
  "idle WebSocket": (load) => measureIdle("idle WebSocket", load, () => openWebSocket(load.url, "/echo")),
};

async function measureEcho(name: string, size: number, load: RealtimeLoad): Promise<Row> {
  const { url, serverPid, echoing, messages } = load;
  const sockets = await openMany(echoing, () => openWebSocket(url, "/echo"));
  const each = Math.ceil(messages / echoing);
  await echo(sockets, size, 0, WARM_UP * 10);
  const figures = await measureUse(serverPid, each * echoing, () => echo(sockets, size, WARM_UP * 10, each));
  return { name, figures };
}

/** Sends so many messages on each, the next one when the one before has come back. */
function echo(sockets: readonly Incoming<Buffer>[], size: number, first: number, count: number): Promise<void> {
  const expected = new NumberedMessage(size);
  return untilAll(sockets, (connection, done) => {
    const message = new NumberedMessage(size);
    let number = first;
    connection.handle = (text) => {
      assertText(text, expected, number);
      if (++number === first + count) done();
      else connection.socket.write(message.frame(number));
    };
    connection.socket.write(message.frame(number));
  });
}

function assertText(text: Buffer, expected: NumberedMessage, number: number): void {
  if (!text.equals(expected.text(number))) {
    throw new TypeError(`expected message ${number}, got ${text.toString("latin1", 0, 100)}`);
  }
}

async function measureBroadcast({ url, serverPid, receivers, broadcasts }: RealtimeLoad): Promise<Row> {
  const sockets = await openMany(receivers, async () => {
    const socket = await openWebSocket(url, "/broadcast");
    await untilAll([socket], (connection, done) => (connection.handle = done)); // it is one of the receivers now
    return socket;
  });
  await broadcast(sockets, 0, WARM_UP);
  const figures = await measureUse(serverPid, broadcasts * receivers, () => broadcast(sockets, WARM_UP, broadcasts));
  return { name: `broadcast to ${receivers}`, figures };
}

/** The first socket publishes; the next message goes out when all have one of those that are on their way. */
function broadcast(sockets: readonly Incoming<Buffer>[], first: number, count: number): Promise<void> {
  const expected = new NumberedMessage(SMALL);
  const end = first + count;
  let published = first;
  const publish = (): void => {
    // Each on its own: several messages are on their way.
    if (published < end) sockets[0]?.socket.write(new NumberedMessage(SMALL).frame(published++));
  };
  const received = new Map<number, number>();
  const run = untilAll(sockets, (connection, done) => {
    let number = first;
    connection.handle = (text) => {
      assertText(text, expected, number);
      const receivers = (received.get(number) ?? 0) + 1;
      received.set(number, receivers);
      if (receivers === sockets.length) publish();
      if (++number === end) done();
    };
  });
  for (let ahead = 0; ahead < IN_FLIGHT; ahead++) publish();
  return run;
}

async function measureEvents({ url, serverPid, streams, events }: RealtimeLoad): Promise<Row> {
  const open = (): Promise<Incoming<string>> => openStream(url);
  const [connections, connectionKiB] = await openMeasured(serverPid, streams, open);
  await publishTo(url, connections, 1, WARM_UP);
  const figures = await measureUse(serverPid, streams * events, () => publishTo(url, connections, WARM_UP + 1, events));
  return { name: `events to ${streams.toLocaleString("en-US")}`, figures: { ...figures, connectionKiB } };
}

/** Opens a stream and waits for event 0, with which each begins. */
async function openStream(url: string): Promise<Incoming<string>> {
  const stream = await openEvents(url);
  await receive([stream], 0);
  return stream;
}

async function publishTo(
  url: string,
  streams: readonly Incoming<string>[],
  first: number,
  count: number,
): Promise<void> {
  for (let number = first; number < first + count; number++) {
    const received = receive(streams, number);
    const [{ status }] = await Promise.all([fetch(new URL("/publish", url), { method: "POST" }), received]);
    if (status !== 204) throw new TypeError(`expected the status 204 of /publish, got ${status}`);
  }
}

/** Waits until every stream has given the event of a number. */
function receive(streams: readonly Incoming<string>[], number: number): Promise<void> {
  let right: string | null = null; // the text that was found right: the same one need not be parsed again
  return untilAll(streams, (connection, done) => {
    connection.handle = (text) => {
      const fault = text === right ? null : faultOfEvent(text, number);
      if (fault !== null) throw new TypeError(fault);
      right = text;
      connection.handle = (extra) => {
        throw new TypeError(`expected event ${number} once, got also ${extra.slice(0, 200)}`);
      };
      done();
    };
  });
}

async function measureIdle<Item>(
  name: string,
  { serverPid, idle, windowMs }: RealtimeLoad,
  open: () => Promise<Incoming<Item>>,
): Promise<Row> {
  const [connections, connectionKiB] = await openMeasured(serverPid, idle, open);
  const used = watchProcessor(serverPid);
  // One that ends meanwhile is a fault.
  await Promise.race([sleep(windowMs), untilAll(connections, () => {})]);
  const idleMs = ((used() ?? 0) * 1e6) / windowMs;
  return { name, figures: { connectionKiB, idleMs } };
}

/** Opens connections. Gives them, and the memory of the server for each. */
async function openMeasured<Item>(
  serverPid: number,
  count: number,
  open: () => Promise<Incoming<Item>>,
): Promise<readonly [connections: readonly Incoming<Item>[], connectionKiB: number]> {
  for (const trial of await openMany(TRIAL, open)) trial.close();
  const before = await settledKiB(serverPid);
  const connections = await openMany(count, open);
  return [connections, ((await settledKiB(serverPid)) - before) / count];
}
