/** The messages of WebSockets as a client writes and reads them: RFC 6455 §5.2, text in one frame. @module */

const TEXT_FRAME = 0x81;
const PING_FRAME = 0x89;
const MASKED = 0x80;
const LENGTH_16 = 126;
/** RFC 6455 §5.3 wants a key that nobody can foresee, against proxies; between two processes there is none. */
const MASK = [0x37, 0xfa, 0x21, 0x3d] as const;
const DIGITS = 8;

/** Messages of one size that differ in their number. The client's share of the work is to write the number. */
export class NumberedMessage {
  readonly #text: Buffer;
  readonly #frame: Buffer;
  readonly #start: number;

  /** @param size - Bytes of the message: 8 to 65,535. */
  constructor(size: number) {
    this.#text = Buffer.alloc(size, "abcdefghijklmnopqrstuvwxyz");
    const head =
      size < LENGTH_16 ? [TEXT_FRAME, MASKED | size] : [TEXT_FRAME, MASKED | LENGTH_16, size >> 8, size & 255];
    this.#start = head.length + MASK.length;
    this.#frame = Buffer.concat([Buffer.from([...head, ...MASK]), this.#text]);
    this.#mask(size);
  }

  /** The masked frame of a number. It is valid until the next call. */
  frame(number: number): Buffer {
    this.text(number);
    this.#mask(DIGITS);
    return this.#frame;
  }

  /** The text of a number. It is valid until the next call. */
  text(number: number): Buffer {
    this.#text.write(String(number).padStart(DIGITS, "0"), "latin1");
    return this.#text;
  }

  #mask(length: number): void {
    for (let index = 0; index < length; index++) {
      this.#frame[this.#start + index] = (this.#text[index] ?? 0) ^ (MASK[index % 4] ?? 0);
    }
  }
}

/** Takes the frames of a server out of what its socket gives. */
export class FrameReader {
  #rest: Buffer | null = null;

  /** The texts of all whole frames. @throws TypeError for a frame that is neither one whole text message nor a ping. */
  read(chunk: Buffer): Buffer[] {
    let data = this.#rest === null ? chunk : Buffer.concat([this.#rest, chunk]);
    const texts: Buffer[] = [];
    for (let end = endOf(data); end !== null && end <= data.length; end = endOf(data)) {
      if (data[0] === TEXT_FRAME) texts.push(data.subarray(headLength(data), end));
      data = data.subarray(end);
    }
    this.#rest = data.length === 0 ? null : data;
    return texts;
  }
}

function headLength(data: Buffer): number {
  return data[1] === LENGTH_16 ? 4 : 2;
}

/** The end of the first frame, `null` where its head is not whole. */
function endOf(data: Buffer): number | null {
  if (data.length < 2 || data.length < headLength(data)) return null;
  const [first = 0, length = 0] = data;
  if ((first !== TEXT_FRAME && first !== PING_FRAME) || length > LENGTH_16) {
    throw new TypeError(`expected a text message in one frame, got a frame that begins with ${first}, ${length}`);
  }
  return length === LENGTH_16 ? 4 + data.readUInt16BE(2) : 2 + length;
}
