/** Streams of frames for the fuzzer: the WebSocket of `serve`, compared with `ws`. @module */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { FrameFault, FrameReader, type ReceivedMessage } from "../../../src/platforms/node/websocket/frame-reader.js";
import { createTarget, type OpenTarget } from "./_fuzz-target.js";
import { type Rule, ruleOf } from "./_websocket-differences.js";
import { type Outcome, ours, theirs } from "./_websocket-peers.js";
import { RecordingServer } from "./_websocket-server.js";
import { type WebSocketInput, webSocketInputs } from "./_websocket-streams.js";

/** A longer stream is not sent byte by byte. */
const MAX_BYTEWISE = 1000;

function packetsOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...cuts.map((at) => at % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end)).filter(({ length }) => length > 0);
}

/** Ends any frame that is not whole, and breaks a rule after it, so that every server closes. */
function withEnd(bytes: Buffer, maxMessageBytes: number): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(Math.max(maxMessageBytes, 125) + 16, 0xff)]);
}

/** Throws if the WebSocket breaks a rule with this input. */
export async function checkWebSocket(
  input: WebSocketInput,
  server: RecordingServer,
  used: Map<Rule, number>,
): Promise<void> {
  const bytes = Buffer.from(input.stream, "hex");
  const packets = packetsOf(bytes, input.cuts);
  const bytewise = bytes.length <= MAX_BYTEWISE ? Array.from(bytes, (byte) => Buffer.from([byte])) : packets;
  checkReader(input, [[bytes], packets, bytewise]);
  const hasEnd = true;
  const [whole, cut, inBytes] = await Promise.all([
    ours(input, { packets: [bytes], isGradual: false, hasEnd }),
    ours(input, { packets, isGradual: true, hasEnd }),
    ours(input, { packets: bytewise, isGradual: false, hasEnd }),
  ]);
  assert.deepEqual(cut, whole, "The result depends on the cuts.");
  assert.deepEqual(inBytes, whole, "The result depends on the cuts.");
  if (input.isServed) await checkServed(input, packets, whole, server);
  const ended = withEnd(bytes, input.maxMessageBytes);
  const sending = { packets: [ended], isGradual: false, hasEnd: false };
  const [our, their] = await Promise.all([ours(input, sending), theirs(input, sending)]);
  if (isDeepStrictEqual(our, their)) return;
  const rule = ruleOf({ bytes: ended, ours: our, theirs: their });
  if (rule === null) assert.deepEqual(our, their, "The WebSocket differs from that of ws.");
  else used.set(rule, (used.get(rule) ?? 0) + 1);
}

/** Compares the server with its WebSocket. For a violation, an application receives the code that the server sends. */
async function checkServed(
  input: WebSocketInput,
  packets: readonly Buffer[],
  expected: Outcome,
  server: RecordingServer,
): Promise<void> {
  const { closed, sent } = expected;
  const told = sent !== null && closed === "1006 " ? sent : closed;
  assert.deepEqual(await server.outcome(input, packets), { ...expected, closed: told }, "The server differs.");
  assert.deepEqual(server.errors, [], "The server has logged an error.");
}

function checkReader(input: WebSocketInput, [whole, ...others]: readonly [readonly Buffer[], ...Buffer[][]]): void {
  const expected = readAll(input, whole);
  for (const packets of others) assert.deepEqual(readAll(input, packets), expected, "The frames depend on the cuts.");
}

/** Everything that a reader finds in packets, described after the last one, so that changes in between are detected. */
function readAll({ isCompressed, maxMessageBytes }: WebSocketInput, packets: readonly Buffer[]): string[] {
  const reader = new FrameReader(maxMessageBytes, isCompressed);
  const memory = new AllocationCounter();
  const found: ReceivedMessage[] = [];
  let given = 0;
  for (const packet of packets) {
    given += packet.length;
    const read = memory.count(() => readPacket(reader, Buffer.from(packet), found));
    memory.check(given);
    if (read !== null) return [...found.map(describe), `fault ${read.code}`];
  }
  return found.map(describe);
}

function readPacket(reader: FrameReader, packet: Buffer, found: ReceivedMessage[]): FrameFault | null {
  reader.push(packet);
  for (let next = reader.read(); next !== null; next = reader.read()) {
    if (next instanceof FrameFault) return next;
    found.push(next);
  }
  return null;
}

const describe = ({ opcode, isCompressed, payload }: ReceivedMessage) =>
  `${opcode} ${isCompressed} ${payload.toString("hex")}`;

const allocate = Buffer.allocUnsafeSlow.bind(Buffer);

/** The buffers that a reader allocates: not before the bytes that they are for are received, and not for each packet. */
class AllocationCounter {
  #largest = 0;
  #total = 0;

  count<T>(task: () => T): T {
    Buffer.allocUnsafeSlow = (size) => {
      this.#largest = Math.max(this.#largest, size);
      this.#total += size;
      return allocate(size);
    };
    try {
      return task();
    } finally {
      Buffer.allocUnsafeSlow = allocate;
    }
  }

  /** @param given - The bytes that were received. */
  check(given: number): void {
    assert.ok(this.#largest <= 2 * given, `A buffer of ${this.#largest} bytes for ${given} bytes.`);
    assert.ok(this.#total <= 8 * given, `Buffers of ${this.#total} bytes for ${given} bytes.`);
  }
}

export const openWebSocket: OpenTarget = async () => {
  const used = new Map<Rule, number>();
  const server = await RecordingServer.start();
  return createTarget(webSocketInputs, (input) => checkWebSocket(input, server, used), {
    summary: () => Array.from(used, ([{ name }, count]) => `${count} differences from ws: ${name}`),
    close: () => server[Symbol.asyncDispose](),
  });
};
