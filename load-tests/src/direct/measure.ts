/** The reference protocol: checked, warmed up, then measured. @module */
import { type Answer, faultOf, PROOFS, type Example } from "../examples.js";
import type { Row, WorkerReport } from "../report.js";
import { createCaller } from "./caller.js";
import type { Caller, Contender } from "./contender.js";

/** The number of requests of a measurement. */
export interface Counts {
  /** Untimed requests, each response checked completely. */
  readonly warmUp: number;
  /** Timed requests, each response checked by its status, and its length if the caller has it without more work. */
  readonly requests: number;
}

/**
 * Measures each example in turn and proves, untimed, that the contender validates. An example with a wrong response has
 * no row.
 */
export async function measureContender(
  contender: Contender,
  examples: readonly Example[],
  counts: Counts,
): Promise<WorkerReport> {
  const rows: Row[] = [];
  const faults: string[] = [];
  for (const example of examples) {
    const result = await measureExample(createCaller(contender, example), example, counts);
    if (typeof result === "string") faults.push(result);
    else rows.push(result);
  }
  faults.push(...(await proofFaults(contender)));
  return { rows, faults };
}

/** The wrong responses to the untimed requests that prove the validation. */
export async function proofFaults(contender: Contender): Promise<string[]> {
  const faults: string[] = [];
  for (const proof of PROOFS) {
    const fault = faultOf(proof, await createCaller(contender, proof).ask());
    if (fault !== null) faults.push(fault);
  }
  return faults;
}

/** Sends untimed requests, each response checked completely. Returns the last response, or the first error. */
export async function warmUp(caller: Caller, example: Example, requests: number): Promise<Answer | string> {
  let right = await caller.ask();
  for (let request = 1; request < requests; request++) {
    const fault = faultOf(example, right);
    if (fault !== null) return fault;
    right = await caller.ask();
  }
  return right;
}

async function measureExample(caller: Caller, example: Example, counts: Counts): Promise<Row | string> {
  const right = await warmUp(caller, example, counts.warmUp);
  if (typeof right === "string") return right;
  const started = performance.now();
  const wrong = await caller.repeat(counts.requests, right);
  const seconds = (performance.now() - started) / 1_000;
  if (wrong > 0) return `${example.name}: ${wrong} of ${counts.requests} responses were wrong`;
  return (
    faultOf(example, right) ??
    faultOf(example, await caller.ask()) ?? {
      name: example.name,
      figures: { perSecond: counts.requests / seconds },
    }
  );
}
