/** Range requests, RFC 9110 §14. */

/** A part of a file: from the first byte to the last, both counted from 0 and both included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Attack: a header of many ranges asks for many times the file, or for as many parts as bytes. Past this it is ignored. */
const MAX_RANGES = 50;

const RANGE = /[ \t]*(\d*)-(\d*)[ \t]*(?:,|$)/y;

/**
 * The parts that a `Range` header asks for, in the order of the file, those that touch or overlap put together.
 *
 * @returns `null` when the header is to be ignored, an empty list when nothing of it can be had.
 */
export function parseRanges(header: string, size: number): ByteRange[] | null {
  const unit = /^bytes[ \t]*=/i.exec(header);
  if (unit === null) return null;
  const ranges: ByteRange[] = [];
  RANGE.lastIndex = unit[0].length;
  for (let count = 1; ; count++) {
    const match = RANGE.exec(header);
    if (match === null || count > MAX_RANGES) return null;
    const range = toRange(match[1] as string, match[2] as string, size);
    if (range === "invalid") return null;
    if (range !== null) ranges.push(range);
    if (RANGE.lastIndex >= header.length) return header.endsWith(",") ? null : coalesce(ranges);
  }
}

/** One range within the file; `null` for one outside it. */
function toRange(first: string, last: string, size: number): ByteRange | null | "invalid" {
  if (first === "") {
    if (last === "") return "invalid";
    const length = Math.min(Number(last), size);
    // No `Content-Range` can name a part of an empty file.
    if (size === 0) return "invalid";
    return length === 0 ? null : { first: size - length, last: size - 1 };
  }
  const from = Number(first);
  const to = last === "" ? size - 1 : Number(last);
  if (last !== "" && to < from) return "invalid";
  return from >= size ? null : { first: from, last: Math.min(to, size - 1) };
}

function coalesce(ranges: ByteRange[]): ByteRange[] {
  const merged: ByteRange[] = [];
  for (const range of ranges.toSorted((left, right) => left.first - right.first)) {
    const previous = merged.at(-1);
    if (previous === undefined || range.first > previous.last + 1) merged.push(range);
    else if (range.last > previous.last) merged[merged.length - 1] = { first: previous.first, last: range.last };
  }
  return merged;
}
