/**
 * The cases of the Autobahn test suite, derived from RFC 6455 (sections 1 to 7 and 9) and RFC 7692 (12 and 13). A row
 * contains the messages that a client sends to an echo server, and the expected replies.
 */
import { createHash } from "node:crypto";
import { constants, deflateRawSync } from "node:zlib";

/** The packets of a row: all in one packet, a packet per frame, or a packet per byte. */
export type Cut = "at once" | "by frame" | "by byte" | `by ${number} bytes`;

/** The code of a close frame that must be received; `"failed"`: 1002, 1007, or a connection that is closed without one. */
export type End = number | "failed";

/** A case: its number, the client's messages, the replies, and the end of the connection. */
export type Row = readonly [
  id: string,
  rule: string,
  frames: readonly Buffer[],
  expected: readonly string[],
  end: End,
  cut?: Cut,
];

const FIN = 0x80;
const OP = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 };

/** A masked frame: RFC 6455 §5.2. */
export function frame(first: number, payload: Buffer | string = ""): Buffer {
  const bytes = typeof payload === "string" ? Buffer.from(payload) : payload;
  const { length } = bytes;
  const head = Buffer.alloc(length > 65_535 ? 14 : length > 125 ? 8 : 6);
  head[0] = first;
  head[1] = 0x80 | (length > 65_535 ? 127 : length > 125 ? 126 : length);
  if (length > 65_535) head.writeBigUInt64BE(BigInt(length), 2);
  else if (length > 125) head.writeUInt16BE(length, 2);
  const mask = Buffer.from([0x37, 0xfa, 0x21, 0x3d]);
  mask.copy(head, head.length - 4);
  const masked = Buffer.allocUnsafe(length);
  for (let index = 0; index < length; index++) masked[index] = (bytes[index] as number) ^ (mask[index & 3] as number);
  return Buffer.concat([head, masked]);
}

const text = (payload: Buffer | string, isFinal = true) => frame((isFinal ? FIN : 0) | OP.text, payload);
const binary = (payload: Buffer | string, isFinal = true) => frame((isFinal ? FIN : 0) | OP.binary, payload);
const more = (payload: Buffer | string, isFinal = false) => frame((isFinal ? FIN : 0) | OP.continuation, payload);
const last = (payload: Buffer | string) => more(payload, true);
const ping = (payload: Buffer | string = "", isFinal = true) => frame((isFinal ? FIN : 0) | OP.ping, payload);
const pong = (payload: Buffer | string = "", isFinal = true) => frame((isFinal ? FIN : 0) | OP.pong, payload);

function closePayload(code: number, reason: Buffer | string = ""): Buffer {
  return Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)]);
}

/** A close frame with a code and a reason. */
export const close = (code: number, reason: Buffer | string = "") => frame(FIN | OP.close, closePayload(code, reason));

/** A frame in words, a long payload by its digest. */
export function describeFrame(kind: string, payload: Buffer): string {
  const isShort = payload.length <= 200;
  return `${kind} ${payload.length} ${isShort ? payload.toString("latin1") : createHash("sha1").update(payload).digest("hex")}`;
}

const asText = (payload: Buffer | string) => describeFrame("text", Buffer.from(payload));
const asBinary = (payload: Buffer | string) => describeFrame("binary", Buffer.from(payload));
const asPong = (payload: Buffer | string = "") => describeFrame("pong", Buffer.from(payload));

const hex = (digits: string) => Buffer.from(digits.replaceAll(" ", ""), "hex");
const CUTS: readonly Cut[] = ["at once", "by frame", "by byte"];

const framing: readonly Row[] = [0, 125, 126, 127, 128, 65_535, 65_536].flatMap((length, index): Row[] => {
  const [stars, bytes] = [Buffer.alloc(length, "*"), Buffer.alloc(length, 0xfe)];
  const rule = `a message of ${length} bytes, §5.2`;
  const rows: Row[] = [
    [`1.1.${index + 1}`, rule, [text(stars)], [asText(stars)], 1000],
    [`1.2.${index + 1}`, rule, [binary(bytes)], [asBinary(bytes)], 1000],
  ];
  if (length < 65_536) return rows;
  return [
    ...rows,
    ["1.1.8", rule, [text(stars)], [asText(stars)], 1000, "by 997 bytes"],
    ["1.2.8", rule, [binary(bytes)], [asBinary(bytes)], 1000, "by 997 bytes"],
  ];
});

const long = Buffer.alloc(125, 0xfe);
const payloads = Array.from({ length: 10 }, (_, index) => `payload-${index}`);
const pings: readonly Row[] = [
  ["2.1", "a ping without a payload, §5.5.2", [ping()], [asPong()], 1000],
  ["2.2", "a ping with text, §5.5.3", [ping("Hello, world!")], [asPong("Hello, world!")], 1000],
  ["2.3", "a ping with bytes, §5.5.3", [ping(hex("00 ff fe fd fc fb 00 ff"))], [asPong(hex("00fffefdfcfb00ff"))], 1000],
  ["2.4", "a ping of 125 bytes, §5.5", [ping(long)], [asPong(long)], 1000],
  ["2.5", "a ping of 126 bytes, §5.5", [ping(Buffer.alloc(126, 0xfe))], [], "failed"],
  ["2.6", "a ping of 125 bytes", [ping(long)], [asPong(long)], 1000, "by byte"],
  ["2.7", "a pong that was not asked for, §5.5.3", [pong()], [], 1000],
  ["2.8", "a pong with a payload, §5.5.3", [pong("unsolicited")], [], 1000],
  ["2.9", "a pong, then a ping", [pong("unsolicited"), ping("ping")], [asPong("ping")], 1000],
  ["2.10", "ten pings", payloads.map((payload) => ping(payload)), payloads.map(asPong), 1000],
  ["2.11", "ten pings", payloads.map((payload) => ping(payload)), payloads.map(asPong), 1000, "by byte"],
];

const HELLO = "Hello, world!";
const echoed = [asText(HELLO)];
const rsv = (bits: number, opcode: number, payload: Buffer | string = HELLO) =>
  frame(FIN | (bits << 4) | opcode, payload);
const reserved: readonly Row[] = [
  ["3.1", "RSV 1 without an extension, §5.2", [rsv(1, OP.text)], [], "failed"],
  ["3.2", "text, then RSV 2, then a ping", [text(HELLO), rsv(2, OP.text), ping()], echoed, "failed"],
  ["3.3", "text, then RSV 3, then a ping", [text(HELLO), rsv(3, OP.text), ping()], echoed, "failed", "by frame"],
  ["3.4", "text, then RSV 4, then a ping", [text(HELLO), rsv(4, OP.text), ping()], echoed, "failed", "by byte"],
  ["3.5", "RSV 5 of a binary message", [rsv(5, OP.binary)], [], "failed"],
  ["3.6", "RSV 6 of a ping", [rsv(6, OP.ping)], [], "failed"],
  ["3.7", "RSV 7 of a close", [rsv(7, OP.close, closePayload(1000))], [], "failed"],
];

const opcodes: readonly Row[] = [3, 11].flatMap((first, group) =>
  [0, 1, 2, 3, 4].map((offset): Row => {
    const unknown = frame(FIN | (first + offset), offset % 2 === 1 ? HELLO : "");
    const rule = `the reserved opcode ${first + offset}, §5.2`;
    const id = `4.${group + 1}.${offset + 1}`;
    return offset < 2
      ? [id, rule, [unknown, ping()], [], "failed"]
      : [id, rule, [text(HELLO), unknown, ping()], echoed, "failed"];
  }),
);

const [one, two] = ["fragment1", "fragment2"];
const joined = [asText(one + two)];
const parts = [1, 2, 3, 4, 5].map((part) => `fragment${part}`) as [string, string, string, string, string];
const legal = [
  text(parts[0], false),
  more(parts[1]),
  ping("one"),
  more(parts[2]),
  more(parts[3]),
  ping("two"),
  last(parts[4]),
];
const inAllCuts = (first: number, row: (cut: Cut) => Row): Row[] =>
  CUTS.map((cut, index) => {
    const [section, rule, frames, expected, end] = row(cut);
    return [`${section}.${first + index}`, rule, frames, expected, end, cut];
  });
const fragmentation: readonly Row[] = [
  ["5.1", "a ping in two fragments, §5.4", [ping(one, false), last(two)], [], "failed"],
  ["5.2", "a pong in two fragments, §5.4", [pong(one, false), last(two)], [], "failed"],
  ...inAllCuts(3, () => ["5", "text in two fragments, §5.4", [text(one, false), last(two)], joined, 1000]),
  ...inAllCuts(6, () => [
    "5",
    "a ping between fragments",
    [text(one, false), ping("?"), last(two)],
    [asPong("?"), ...joined],
    1000,
  ]),
  ...inAllCuts(9, () => ["5", "a last continuation of nothing", [last("none"), text(HELLO)], [], "failed"]),
  ...inAllCuts(12, () => ["5", "a continuation of nothing", [more("none"), text(HELLO)], [], "failed"]),
  [
    "5.15",
    "a continuation after the last one",
    [text(one, false), last(two), more("none"), text(HELLO)],
    joined,
    "failed",
  ],
  ["5.16", "a continuation before the first", [more("none"), text(one, false), last(two)], [], "failed"],
  ["5.17", "a last continuation before the first", [last("none"), text(one, false), last(two)], [], "failed"],
  ["5.18", "two first fragments", [text(one, false), text(two)], [], "failed"],
  ...inAllCuts(19, () => [
    "5",
    "pings between five fragments",
    legal,
    [asPong("one"), asPong("two"), asText(parts.join(""))],
    1000,
  ]),
];

/** Each code point boundary and special code point of RFC 3629 and Unicode, and text around them. */
const validUTF8: readonly (readonly [id: string, bytes: Buffer])[] = [
  ["6.1", Buffer.from("")],
  ["6.2.1", Buffer.from("Hello-µ@ßöäüàá-UTF-8!!")],
  ["6.5", Buffer.from("κόσμε")],
  ...["00", "c280", "e0a080", "f0908080"].map((bytes) => ["6.7", hex(bytes)] as const),
  ...["7f", "dfbf", "efbfbf", "f48fbfbf"].map((bytes) => ["6.9", hex(bytes)] as const),
  ...["ed9fbf", "ee8080", "efbfbd", "f48fbfbf"].map((bytes) => ["6.11", hex(bytes)] as const),
  ...[
    "efbfbe",
    ...Array.from({ length: 17 }, (_, plane) => [0xfffe, 0xffff].map((low) => plane * 0x1_00_00 + low))
      .flat()
      .map((point) => Buffer.from(String.fromCodePoint(point)).toString("hex")),
  ].map((bytes) => ["6.22", hex(bytes)] as const),
  ...["efbfb9", "efbfba", "efbfbb", "efbfbc", "efbfbd"].map((bytes) => ["6.23", hex(bytes)] as const),
];

const continuations = Array.from({ length: 64 }, (_, index) => (0x80 + index).toString(16)).join("");
const lonely = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `${(from + index).toString(16)}20`).join("");
const truncated = ["c0", "e080", "f08080", "f8808080", "fc80808080", "df", "efbf", "f7bfbf", "fbbfbfbf", "fdbfbfbfbf"];
const invalidUTF8: readonly (readonly [id: string, sequences: readonly string[]])[] = [
  ["6.3", ["cebae1bdb9cf83cebcceb5eda080656469746564"]],
  ["6.4", ["cebae1bdb9cf83cebcceb5f4908080656469746564"]],
  ["6.6", ["ce", "ceba e1", "cebae1bd", "cebae1bdb9cf", "cebae1bdb9cf83ce", "cebae1bdb9cf83cebcce"]],
  ["6.8", ["f888808080", "fc8480808080"]],
  ["6.10", ["f7bfbfbf", "fbbfbfbfbf", "fdbfbfbfbfbf"]],
  ["6.11.5", ["f4908080"]],
  ["6.12", ["80", "bf", "80bf", "80bf80", "80bf80bf", "80bf80bf80", "80bf80bf80bf", continuations]],
  ["6.13", [lonely(0xc0, 0xdf), lonely(0xe0, 0xef), lonely(0xf0, 0xf7), lonely(0xf8, 0xfb), lonely(0xfc, 0xfd)]],
  ["6.14", truncated],
  ["6.15", [truncated.join("")]],
  ["6.16", ["fe", "ff", "fefeffff"]],
  ["6.17", ["c0af", "e080af", "f08080af", "f8808080af", "fc80808080af"]],
  ["6.18", ["c1bf", "e09fbf", "f08fbfbf", "f887bfbfbf", "fc83bfbfbfbf"]],
  ["6.19", ["c080", "e08080", "f0808080", "f880808080", "fc8080808080"]],
  ["6.20", ["eda080", "edadbf", "edae80", "edafbf", "edb080", "edbe80", "edbfbf"]],
  [
    "6.21",
    [
      "eda080edb080",
      "eda080edbfbf",
      "edadbfedb080",
      "edadbfedbfbf",
      "edae80edb080",
      "edae80edbfbf",
      "edafbfedb080",
      "edafbfedbfbf",
    ],
  ],
];

/** Text in fragments of one byte. */
function byBytes(bytes: Buffer): Buffer[] {
  return [text("", false), ...Array.from(bytes, (byte) => more(Buffer.from([byte]))), last("")];
}

const utf8: readonly Row[] = [
  ["6.1.2", "three empty fragments, §5.4", [text("", false), more(""), last("")], [asText("")], 1000],
  ["6.1.3", "empty fragments around text", [text("", false), more("middle"), last("")], [asText("middle")], 1000],
  ...validUTF8.flatMap(([id, bytes]): Row[] => {
    const rule = `valid UTF-8 ${bytes.toString("hex")}, §8.1`;
    return [
      [id, rule, [text(bytes)], [asText(bytes)], 1000],
      [id, `${rule}, a fragment per byte`, byBytes(bytes), [asText(bytes)], 1000],
    ];
  }),
  ...invalidUTF8.flatMap(([id, sequences]) =>
    sequences.flatMap((digits): Row[] => {
      const rule = `invalid UTF-8 ${digits.slice(0, 40)}, §8.1`;
      return [
        [id, rule, [text(hex(digits))], [], "failed"],
        [id, `${rule}, a fragment per byte`, byBytes(hex(digits)), [], "failed"],
      ];
    }),
  ),
];

const big = Buffer.alloc(256 * 1024, "BAsd7&jh23");
const VALID_CODES = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999];
const INVALID_CODES = [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535];
const closing: readonly Row[] = [
  ["7.1.1", "a message, then a close, §5.5.1", [text("Hello World!"), close(1000)], [asText("Hello World!")], 1000],
  ["7.1.2", "two closes", [close(1000), close(1000)], [], 1000],
  ["7.1.3", "a ping after the close", [close(1000), ping()], [], 1000],
  ["7.1.4", "a message after the close", [close(1000), text("after")], [], 1000],
  ["7.1.5", "a close between fragments", [text(one, false), close(1000), last(two)], [], 1000],
  ["7.1.6", "256 KiB, then a close, then a ping", [text(big), close(1000), ping()], [asText(big)], 1000],
  ["7.3.1", "a close without a payload, §7.1.5", [frame(FIN | OP.close)], [], 1005],
  ["7.3.2", "a close of one byte, §5.5.1", [frame(FIN | OP.close, "a")], [], "failed"],
  ["7.3.3", "a close with a code", [close(1000)], [], 1000],
  ["7.3.4", "a close with a reason", [close(1000, "Hello World!")], [], 1000],
  ["7.3.5", "a reason of 123 bytes, §5.5", [close(1000, "*".repeat(123))], [], 1000],
  ["7.3.6", "a reason of 124 bytes, §5.5", [close(1000, "*".repeat(124))], [], "failed"],
  ["7.5.1", "a reason that is not UTF-8, §5.5.1", [close(1000, hex("cebaeda080"))], [], "failed"],
  ...VALID_CODES.map((code, index): Row => [`7.7.${index + 1}`, `the code ${code}, §7.4`, [close(code)], [], code]),
  ...INVALID_CODES.map((code, index): Row => [
    `7.9.${index + 1}`,
    `the code ${code}, §7.4`,
    [close(code)],
    [],
    "failed",
  ]),
];

/** The rules of the protocol. */
export const protocolRows: readonly Row[] = [
  ...framing,
  ...pings,
  ...reserved,
  ...opcodes,
  ...fragmentation,
  ...utf8,
  ...closing,
];

function fragments(payload: Buffer, bytes: number, opcode: number): Buffer[] {
  const all: Buffer[] = [];
  for (let at = 0; at < payload.length; at += bytes) {
    const isFinal = at + bytes >= payload.length;
    all.push(frame((isFinal ? FIN : 0) | (at === 0 ? opcode : 0), payload.subarray(at, at + bytes)));
  }
  return all;
}

const KIB = 1024;
const MIB = KIB * KIB;
const limits: readonly Row[] = [
  ...[64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB].flatMap((length, index): Row[] => {
    const payload = Buffer.alloc(length, "*");
    return [
      [`9.1.${index + 1}`, `text of ${length} bytes`, [text(payload)], [asText(payload)], 1000],
      [`9.2.${index + 1}`, `a binary message of ${length} bytes`, [binary(payload)], [asBinary(payload)], 1000],
    ];
  }),
  ...[64, 256, KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB].flatMap((bytes, index): Row[] => {
    const payload = Buffer.alloc(4 * MIB, "*");
    return [
      [
        `9.3.${index + 1}`,
        `4 MiB of text in fragments of ${bytes} bytes`,
        fragments(payload, bytes, OP.text),
        [asText(payload)],
        1000,
      ],
      [
        `9.4.${index + 1}`,
        `4 MiB in fragments of ${bytes} bytes`,
        fragments(payload, bytes, OP.binary),
        [asBinary(payload)],
        1000,
      ],
    ];
  }),
  ...([64, 512, 2048] as const).map((bytes, index): Row => {
    const payload = Buffer.alloc(MIB, "*");
    return [
      `9.5.${index + 1}`,
      `1 MiB in packets of ${bytes} bytes`,
      [text(payload)],
      [asText(payload)],
      1000,
      `by ${bytes} bytes`,
    ];
  }),
  ...[0, 16, 64, 256, KIB, 4 * KIB].map((length, index): Row => {
    const payload = Buffer.alloc(length, "*");
    const count = 500;
    return [
      `9.7.${index + 1}`,
      `${count} messages of ${length} bytes`,
      Array<Buffer>(count).fill(text(payload)),
      Array<string>(count).fill(asText(payload)),
      1000,
    ];
  }),
];

/** Large messages, many fragments and many messages. */
export const limitRows: readonly Row[] = limits;

/** The offers of section 13: with and without a context that is kept, and with windows. */
export const OFFERS: readonly (readonly [id: string, offer: string])[] = [
  ["12", "permessage-deflate"],
  ["13.1", "permessage-deflate; client_no_context_takeover; client_max_window_bits"],
  ["13.2", "permessage-deflate; client_no_context_takeover; client_max_window_bits; server_no_context_takeover"],
  ["13.3", "permessage-deflate; client_no_context_takeover; client_max_window_bits; server_max_window_bits=9"],
  ["13.4", "permessage-deflate; client_no_context_takeover; client_max_window_bits; server_max_window_bits=15"],
  ["13.5", "permessage-deflate; server_no_context_takeover; server_max_window_bits=9"],
  ["13.6", "permessage-deflate; server_no_context_takeover; server_max_window_bits=15"],
  ["13.7", "permessage-deflate; mystery, permessage-deflate; server_max_window_bits=15, permessage-deflate"],
];

const COMPRESSED = 0x40;
const EMPTY_BLOCK_BYTES = 4;

function deflated(payload: Buffer): Buffer {
  return deflateRawSync(payload, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -EMPTY_BLOCK_BYTES);
}

const LENGTHS = [16, 64, 256, KIB, 4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB];

/** Compressed messages of many lengths, whole and in fragments: RFC 7692 §6 and §7.2. */
export const compressedRows: readonly Row[] = LENGTHS.map((length, index): Row => {
  const payload = Buffer.alloc(length, "JSON {}, 0123456789");
  const bytes = deflated(payload);
  const middle = Math.ceil(bytes.length / 2);
  const whole = frame(FIN | COMPRESSED | OP.text, bytes);
  const cut = [frame(COMPRESSED | OP.binary, bytes.subarray(0, middle)), last(bytes.subarray(middle))];
  const expected = [asText(payload), asBinary(payload), asText("not compressed"), asText(payload)];
  return [
    `${index + 1}`,
    `messages of ${length} bytes`,
    [whole, ...cut, text("not compressed"), whole],
    expected,
    1000,
  ];
});

/** Valid and forbidden frames of RFC 7692. */
export const compressedFrameRows: readonly Row[] = [
  ["§6.1", "a compressed control frame", [frame(FIN | COMPRESSED | OP.ping, "?")], [], "failed"],
  [
    "§6.1",
    "a continuation with RSV 1",
    [frame(COMPRESSED | OP.text, deflated(Buffer.from("a"))), frame(FIN | COMPRESSED)],
    [],
    "failed",
  ],
  [
    "§7.2.2",
    "bytes that are not DEFLATE",
    [text(HELLO), frame(FIN | COMPRESSED | OP.text, hex("ffffff"))],
    echoed,
    "failed",
  ],
  [
    "§6.1",
    "a ping between compressed fragments",
    [
      frame(COMPRESSED | OP.text, deflated(Buffer.from(HELLO)).subarray(0, 4)),
      ping("?"),
      last(deflated(Buffer.from(HELLO)).subarray(4)),
    ],
    [asPong("?"), ...echoed],
    1000,
  ],
  [
    "§6.2",
    "compressed text that is not UTF-8",
    [text(HELLO), frame(FIN | COMPRESSED | OP.text, deflated(hex("ff")))],
    echoed,
    "failed",
  ],
];
