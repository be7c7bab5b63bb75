/** The blocks of an event stream, which decide how the server stops it. @module */

const CR = 0x0d;
const LF = 0x0a;
const COLON = 0x3a;

/** The first characters of a line, enough to tell whether an `id` is empty: one blank after the colon is not part of it. */
const MAX_START = 5;
const ID = /^id:(?! ?$)/;

const UNKNOWN = -1;
const NONE = Infinity;

/** The place of a byte from `at` on, where one before may be known: each byte is searched only once. */
function nextOf(byte: number, chunk: Uint8Array, at: number, known: number): number {
  if (known >= at) return known;
  const next = chunk.indexOf(byte, at);
  return next === -1 ? NONE : next;
}

/**
 * Follows the bytes of an event stream, in any chunks. A client of the stream continues after the last `id` that it received, so
 * the server may end the stream without a loss only if the last block has one.
 *
 * @see {@link https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation | HTML §9.2.6}
 */
export class EventBlocks {
  readonly #isEncoded: boolean;
  /** `true` if the last complete block with a field has an id. */
  #isIdentified = false;
  /** `true` if the current block has a field, and the id that would be its own. */
  #hasField = false;
  #hasId = false;
  /** The start of the current line. */
  #start = "";
  #hasNull = false;
  /** `true` after a CR, with which a LF is one end of a line. */
  #followsCR = false;

  /** @param isEncoded - Whether the bytes are encoded: then their blocks are unknown. */
  constructor(isEncoded: boolean) {
    this.#isEncoded = isEncoded;
  }

  /** `true` if a client can continue after the bytes so far: they end with a block, and the last one with a field has an id. */
  get canResume(): boolean {
    return this.#isIdentified && !this.#hasField && (this.#start === "" || this.#start.startsWith(":"));
  }

  /** Takes the next bytes of the stream. */
  add(chunk: Uint8Array): void {
    if (this.#isEncoded || chunk.length === 0) return;
    let at = this.#followsCR && chunk[0] === LF ? 1 : 0;
    this.#followsCR = false;
    for (let cr = UNKNOWN, lf = UNKNOWN; at < chunk.length;) {
      cr = nextOf(CR, chunk, at, cr);
      lf = nextOf(LF, chunk, at, lf);
      const end = Math.min(cr, lf);
      this.#read(chunk, at, Math.min(end, chunk.length));
      if (end === NONE) return;
      this.#endLine();
      at = end + 1;
      if (end !== cr) continue;
      if (at === chunk.length) this.#followsCR = true;
      else if (chunk[at] === LF) at++;
    }
  }

  #read(chunk: Uint8Array, from: number, to: number): void {
    const length = Math.min(to, from + MAX_START - this.#start.length);
    for (let index = from; index < length; index++) this.#start += String.fromCharCode(chunk[index] ?? 0);
    if (this.#start.startsWith("id:")) this.#hasNull ||= chunk.subarray(from, to).includes(0);
  }

  #endLine(): void {
    const start = this.#start;
    this.#start = "";
    if (start === "") {
      if (this.#hasField) this.#isIdentified = this.#hasId;
      this.#hasField = this.#hasId = false;
    } else if (start.charCodeAt(0) !== COLON) {
      this.#hasField = true;
      // An id with NUL is ignored, and of several the last one is used.
      if (start === "id" || start.startsWith("id:")) this.#hasId = this.#hasNull ? this.#hasId : ID.test(start);
    }
    this.#hasNull = false;
  }
}
