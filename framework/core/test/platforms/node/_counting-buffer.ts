/** Counts the bytes that a parser reads, because that count does not depend on the machine as time does. @module */

/** A buffer of which each read is counted. */
export class CountingBuffer {
  /** The number of bytes that were read, a byte that was read twice counted twice. */
  reads = 0;
  /** The buffer to hand to a parser. A method that is not counted here throws. */
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    const counted = this.#countedMethods(bytes);
    this.bytes = new Proxy(bytes, {
      get: (target, key) => {
        if (key === "length") return target.length;
        if (typeof key === "symbol") throw new TypeError(`The reads of ${String(key)} are not counted.`);
        if (Object.hasOwn(counted, key)) return counted[key as keyof typeof counted];
        if (!/^-?\d+$/.test(key)) throw new TypeError(`The reads of ${key} are not counted.`);
        this.reads++;
        return target[Number(key)];
      },
    });
  }

  #countedMethods(bytes: Buffer) {
    return {
      toString: (encoding: BufferEncoding, start = 0, end = bytes.length): string => {
        const text = bytes.toString(encoding, start, end);
        this.reads += text.length;
        return text;
      },
      indexOf: (value: number | Buffer, start = 0): number => {
        const index = bytes.indexOf(value, start);
        this.reads += (index === -1 ? bytes.length : index + 1) - start;
        return index;
      },
      lastIndexOf: (value: number, end: number): number => {
        const index = bytes.lastIndexOf(value, end);
        this.reads += end - index;
        return index;
      },
      includes: (value: number, start = 0): boolean => {
        const index = bytes.indexOf(value, start);
        this.reads += (index === -1 ? bytes.length : index + 1) - start;
        return index !== -1;
      },
      subarray: (start: number, end: number): Buffer => bytes.subarray(start, end),
    };
  }
}
