/** Two programs measured in short slices, one program after the other. @module */
import { median } from "../statistics.js";

/** The rows of a program, and the wrong responses of its check. */
export interface Ready {
  readonly names: readonly string[];
  readonly faults: readonly string[];
}

/** A program in a separate process that works in slices. */
export interface Sliced {
  ready(): Promise<Ready>;
  /** Sends requests of a row and returns the processor time, in microseconds. @throws Error for a wrong response. */
  slice(row: number, requests: number): Promise<number>;
  stop(): Promise<void>;
}

/** Two programs that do the same work, of which one is ours. */
export interface Sides<T> {
  readonly ours: T;
  readonly theirs: T;
}

/** One row of one launch. */
export interface LaunchedRow {
  readonly name: string;
  /** Ours by theirs, as speeds: the median of the ratios of neighboring slices. */
  readonly ratio: number;
  /** The median processor time per request in microseconds; other rows state their unit. */
  readonly cost: Sides<number>;
}

/** The work of a program before it is measured. */
export interface WarmUp {
  readonly requests: number;
  readonly leastUs: number;
  readonly longestUs: number;
}

/** The amounts of a launch. */
export interface Slicing {
  /** Processor time of a slice: short compared with disturbances of a host, long compared with a young collection. */
  readonly sliceUs: number;
  /**
   * Before the first row with a method is measured, each program has at least so many requests and so much processor
   * time, but no more than `longestUs`. Before further rows, a third of it. V8 compiles the code of a server during its
   * first 5,000 to 10,000 requests, on other threads: until then, a request takes 2 to 20 times as long.
   */
  readonly warmUp: WarmUp;
  /** Pairs of slices of each row. */
  readonly slices: number;
}

/** Requests of the first slice: few, because a query can take 10 ms. */
const FIRST_SLICE = 50;

/** Of the requests of a slice, from one to the next: the time of a short slice is not exact. */
const LARGEST_GROWTH = 20;

/**
 * Measures both programs in alternating slices, so that a disturbance of the host affects both. On a virtual machine
 * two processes one after the other differed by 20 % (standard deviation), and two in slices by 2 to 5 %.
 *
 * @param launch - The number of the launch: it decides which of the two is first.
 * @param wants - The rows to measure.
 * @throws Error with the first wrong response.
 */
export async function alternate(
  { ours, theirs }: Sides<Sliced>,
  launch: number,
  wants: (row: string) => boolean,
  slicing: Slicing,
): Promise<LaunchedRow[]> {
  const both = await Promise.all([ours.ready(), theirs.ready()]);
  const faults = both.flatMap((ready) => ready.faults);
  if (faults.length > 0) throw new Error(faults.join("; "));
  const rows: LaunchedRow[] = [];
  for (const [row, name] of both[0].names.entries()) {
    if (both[1].names[row] !== name) throw new Error(`Expected the row ${name} of both programs.`);
    if (!wants(name)) continue;
    const isFirst = rows.every((earlier) => methodOf(earlier.name) !== methodOf(name));
    const share = isFirst ? 1 : 1 / 3;
    rows.push({ name, ...(await measureRow({ ours, theirs }, row, launch, slicing, share)) });
  }
  return rows;
}

function methodOf(row: string): string {
  return row.split(" ")[0] ?? "";
}

async function measureRow(
  sides: Sides<Sliced>,
  row: number,
  launch: number,
  { sliceUs, warmUp, slices }: Slicing,
  share: number,
): Promise<Omit<LaunchedRow, "name">> {
  const requests = { ours: FIRST_SLICE, theirs: FIRST_SLICE };
  const warm = async (side: keyof typeof requests): Promise<void> => {
    let sent = 0;
    let usedUs = 0;
    const isCold = (): boolean => sent < warmUp.requests * share || usedUs < warmUp.leastUs * share;
    while (isCold() && usedUs < warmUp.longestUs * share) {
      const us = await sides[side].slice(row, requests[side]);
      usedUs += us;
      sent += requests[side];
      const growth = Math.min(sliceUs / us, LARGEST_GROWTH);
      requests[side] = Math.max(1, Math.round(requests[side] * growth));
    }
  };
  await warm("ours");
  await warm("theirs");
  const used: Record<keyof typeof requests, number[]> = { ours: [], theirs: [] };
  for (let slice = 0; slice < slices; slice++) {
    const order = (slice + launch) % 2 === 0 ? (["ours", "theirs"] as const) : (["theirs", "ours"] as const);
    for (const side of order) used[side].push((await sides[side].slice(row, requests[side])) / requests[side]);
  }
  const ratios = used.ours.map((us, slice) => (used.theirs[slice] ?? Number.NaN) / us);
  return { ratio: median(ratios), cost: { ours: median(used.ours), theirs: median(used.theirs) } };
}
