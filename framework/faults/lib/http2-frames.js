/** Connections of random and mutated HTTP/2 frames (RFC 9113 §6), the same for the same seed. */

export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const FIRST_SETTINGS = [[], [[4, 0]], [[4, 1]], [[3, 100]], [[4, 2 ** 31 - 1]], [[5, 16_384]], [[1, 0]]];
const PATHS = ["/fast", "/counts", "/events", "/download", "/big?mib=1", "/echo", "/count", "/missing", "*", "/%zz"];
const METHODS = ["GET", "GET", "POST", "POST", "HEAD", "OPTIONS", "CONNECT", "FOO"];
const FIELDS = [
  ["content-length", "5"],
  ["content-type", "application/json"],
  ["expect", "100-continue"],
  ["te", "trailers"],
  ["connection", "close"],
  ["X-A", "b"],
  [":path", "/b"],
  ["cookie", "a=1"],
  ["x", "\r\n"],
];

export function frame(type, flags, stream, payload = Buffer.alloc(0)) {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
}

export function uint32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

/** Fields that are not indexed (RFC 7541 §6.2.2), each shorter than 127 bytes. */
export function fieldBlock(fields) {
  const text = (value) => Buffer.concat([Buffer.of(value.length), Buffer.from(value, "latin1")]);
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]));
}

export function requestFields(method, path) {
  return [
    [":method", method],
    [":scheme", "http"],
    [":path", path],
    [":authority", "a"],
  ];
}

export const setting = (id, value) => Buffer.concat([Buffer.of(id >> 8, id & 255), uint32(value)]);

/** Pseudo-random choices: mulberry32. */
export class Chance {
  #state;

  constructor(seed) {
    this.#state = seed | 0;
  }

  next() {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let value = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit) {
    return Math.floor(this.next() * limit);
  }

  is(probability) {
    return this.next() < probability;
  }

  of(values) {
    return values[this.below(values.length)];
  }

  bytes(length) {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }
}

/** The packets of one connection. */
export function packetsOf(chance) {
  const settings = chance.of(FIRST_SETTINGS).map(([id, value]) => setting(id, value));
  const frames = [chance.is(0.98) ? PREFACE : chance.bytes(24)];
  if (chance.is(0.97)) frames.push(frame(4, 0, 0, Buffer.concat(settings)));
  const streams = { next: 1 };
  const count = 1 + chance.below(chance.is(0.3) ? 4 : 40);
  for (let index = 0; index < count; index++) frames.push(mutated(chance, randomFrame(chance, streams)));
  const how = chance.next();
  if (how < 0.5) return [Buffer.concat(frames)];
  if (how < 0.7) return frames;
  const all = Buffer.concat(frames);
  const cuts = Array.from({ length: 1 + chance.below(8) }, () => chance.below(all.length)).toSorted((a, b) => a - b);
  return [0, ...cuts]
    .map((at, index) => all.subarray(at, cuts[index] ?? all.length))
    .filter(({ length }) => length > 0);
}

function mutated(chance, bytes) {
  if (chance.is(0.85)) return bytes;
  const copy = Buffer.from(bytes);
  const how = chance.next();
  if (how < 0.3) copy[chance.below(copy.length)] = chance.below(256);
  else if (how < 0.5) copy.writeUIntBE(chance.of([0, 1, 4, 5, 6, 7, 8, 9, 16_384, 16_385, 2 ** 24 - 1]), 0, 3);
  else if (how < 0.7) copy[4] = chance.below(256);
  else if (how < 0.8) return copy.subarray(0, chance.below(copy.length + 1));
  else if (how < 0.9) copy.writeUInt32BE(chance.of([0, 1, 2, 3, 2 ** 31 - 1, 2 ** 32 - 1]), 5);
  else return Buffer.concat([copy, copy]);
  return copy;
}

/** The kinds of frames, each with its share. */
const KINDS = [
  [
    4,
    ({ chance, streams, opened, flags }) => {
      const stream = chance.is(0.9) ? streams.next : opened();
      if (stream === streams.next) streams.next += 2;
      const fields = requestFields(chance.of(METHODS), chance.of(PATHS));
      while (chance.is(0.3)) fields.splice(chance.is(0.8) ? fields.length : 0, 0, chance.of(FIELDS));
      return frame(1, flags(chance.of([4, 5, 5, 0])), stream, chance.is(0.97) ? fieldBlock(fields) : chance.bytes(20));
    },
  ],
  [
    4,
    ({ chance, opened, flags }) =>
      frame(0, flags(chance.of([0, 0, 1, 8])), opened(), chance.bytes(chance.of([0, 1, 5, 100, 2000]))),
  ],
  [1, ({ chance, opened }) => frame(3, 0, opened(), uint32(chance.below(16)))],
  [1, ({ opened }) => frame(2, 0, opened(), Buffer.concat([uint32(opened()), Buffer.of(16)]))],
  [
    2,
    ({ chance, flags }) => {
      const value = chance.of([0, 1, 2, 100, 65_535, 2 ** 31]);
      return frame(4, flags(0), 0, setting(chance.of([1, 2, 3, 4, 5, 6, 8, 9]), value));
    },
  ],
  [1, () => frame(4, 1, 0)],
  [3, ({ chance, flags }) => frame(6, flags(chance.is(0.85) ? 0 : 1), 0, chance.bytes(8))],
  [1, ({ chance, opened }) => frame(7, 0, 0, Buffer.concat([uint32(opened()), uint32(chance.of([0, 0, 0, 1, 11]))]))],
  [
    4,
    ({ chance, opened }) =>
      frame(8, 0, chance.is(0.4) ? 0 : opened(), uint32(chance.of([0, 1, 1000, 65_535, 2 ** 31 - 1]))),
  ],
  [1, ({ opened, flags }) => frame(9, flags(4), opened(), fieldBlock([["x", "y"]]))],
  [1, ({ opened }) => frame(5, 4, opened(), uint32(2))],
  [1, ({ chance }) => frame(chance.below(256), chance.below(256), chance.below(8), chance.bytes(chance.below(64)))],
].flatMap(([count, create]) => Array.from({ length: count }, () => create));

function randomFrame(chance, streams) {
  const opened = () => (chance.is(0.9) ? 1 + 2 * chance.below(Math.max(1, (streams.next - 1) / 2)) : chance.below(8));
  const flags = (usual) => (chance.is(0.9) ? usual : chance.below(256));
  return chance.of(KINDS)({ chance, streams, opened, flags });
}
