/** Reads the profiles that `node --cpu-prof` writes. @module */

/** The time of one function itself, without its calls. */
export interface SelfTime {
  /** The function's name, its file and line. */
  readonly name: string;
  /** In nanoseconds, for each request. */
  readonly ns: number;
  readonly share: number;
}

interface CallFrame {
  functionName: string;
  url: string;
  lineNumber: number;
}

/** The parts of the Chrome DevTools Protocol's `Profiler.Profile` that are read here; times are in microseconds. */
export interface CpuProfile {
  nodes: { id: number; callFrame: CallFrame }[];
  samples: number[];
  timeDeltas: number[];
}

/** Adds the samples up by function, the most expensive first. */
export function selfTimes(profile: CpuProfile, requests: number): SelfTime[] {
  const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const totals = new Map<string, number>();
  let whole = 0;
  profile.samples.forEach((id, sample) => {
    const name = names.get(id) ?? "(unknown)";
    const microseconds = profile.timeDeltas[sample] ?? 0;
    whole += microseconds;
    totals.set(name, (totals.get(name) ?? 0) + microseconds);
  });
  return [...totals]
    .map(([name, microseconds]) => ({ name, ns: (microseconds * 1_000) / requests, share: microseconds / whole }))
    .toSorted((left, right) => right.ns - left.ns);
}

function nameOf({ functionName, url, lineNumber }: CallFrame): string {
  const file = url.split("/").slice(-2).join("/");
  return `${functionName || "(anonymous)"}${file === "" ? "" : ` ${file}:${lineNumber + 1}`}`;
}
