/** The heads of HTTP/2 frames, and what RFC 9113 allows in them. @module */
import { constants } from "node:http2";

/** RFC 9113 §4.1: length, type, flags and stream. */
export const FRAME_HEAD_BYTES = 9;
/** RFC 9113 §4.2. The server announces no other SETTINGS_MAX_FRAME_SIZE. */
const MAX_PAYLOAD_BYTES = 16_384;
const MAX_STREAM = 0x7f_ff_ff_ff;
const ACK = 0x1;
const PADDED = 0x8;
const PRIORITY = 0x20;

const PING_TYPE = 6;
/** PRIORITY, SETTINGS, PING, WINDOW_UPDATE. */
const CONTROL_TYPES: ReadonlySet<number> = new Set([2, 4, PING_TYPE, 8]);

interface FrameType {
  /** `true` for a frame of a stream, `false` for one of the connection, `null` for either. */
  readonly ofStream: boolean | null;
  allows(length: number, flags: number): boolean;
}

/** By type (RFC 9113 §6); PUSH_PROMISE is absent, because a client cannot push (§8.4). */
const TYPES: readonly (FrameType | null)[] = [
  { ofStream: true, allows: (length, flags) => length >= padding(flags) }, // DATA
  { ofStream: true, allows: (length, flags) => length >= padding(flags) + ((flags & PRIORITY) === 0 ? 0 : 5) }, // HEADERS
  { ofStream: true, allows: (length) => length === 5 }, // PRIORITY
  { ofStream: true, allows: (length) => length === 4 }, // RST_STREAM
  { ofStream: false, allows: (length, flags) => ((flags & ACK) === 0 ? length % 6 === 0 : length === 0) }, // SETTINGS
  null,
  { ofStream: false, allows: (length) => length === 8 }, // PING
  { ofStream: false, allows: (length) => length >= 8 }, // GOAWAY
  { ofStream: null, allows: (length) => length === 4 }, // WINDOW_UPDATE
  { ofStream: true, allows: () => true }, // CONTINUATION
];

const padding = (flags: number) => ((flags & PADDED) === 0 ? 0 : 1);

/** A frame's head. */
export interface FrameHead {
  /** Bytes of the payload. */
  readonly length: number;
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
}

/** Reads the head at a position; `null` if it is incomplete. */
export function readFrameHead(bytes: Buffer, at: number): FrameHead | null {
  if (bytes.length - at < FRAME_HEAD_BYTES) return null;
  return {
    length: bytes.readUIntBE(at, 3),
    type: bytes.readUInt8(at + 3),
    flags: bytes.readUInt8(at + 4),
    stream: bytes.readUInt32BE(at + 5) & MAX_STREAM,
  };
}

/** The error code of a frame that RFC 9113 forbids a client; `NGHTTP2_NO_ERROR` for any other. */
export function checkFrameHead({ length, type, flags, stream }: FrameHead): number {
  if (length > MAX_PAYLOAD_BYTES) return constants.NGHTTP2_FRAME_SIZE_ERROR;
  const known = TYPES[type];
  if (known === undefined) return constants.NGHTTP2_NO_ERROR; // RFC 9113 §5.5
  if (known === null) return constants.NGHTTP2_PROTOCOL_ERROR;
  if (known.ofStream !== null && known.ofStream !== (stream !== 0)) return constants.NGHTTP2_PROTOCOL_ERROR;
  return known.allows(length, flags) ? constants.NGHTTP2_NO_ERROR : constants.NGHTTP2_FRAME_SIZE_ERROR;
}

/** Tells if the frame answers a PING of the server. */
export function isPong({ type, flags }: FrameHead): boolean {
  return type === PING_TYPE && (flags & ACK) !== 0;
}

/** Tells if the frame neither opens or ends a stream, nor carries data, nor answers one of the server. */
export function isControl({ type, flags }: FrameHead): boolean {
  return CONTROL_TYPES.has(type) && (flags & ACK) === 0;
}
