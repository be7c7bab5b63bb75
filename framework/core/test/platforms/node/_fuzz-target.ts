/** The interface between the fuzzer and the parsers that it tests. @module */
import * as fc from "../../../../test/support/fast-check.js";

/** A parser, and what must be true of its results. */
export interface FuzzTarget extends AsyncDisposable {
  /**
   * Tries the inputs of one seed, always the same ones.
   *
   * @returns A report of the first failure, with an input as short as was found; `null` without a failure.
   */
  tryInputs(seed: number, count: number): Promise<string | null>;
  /** Facts about all inputs together, a line each. */
  summary(): readonly string[];
}

/** Opens a target. The names are the values of the command's option `--target`. */
export type OpenTarget = () => Promise<FuzzTarget>;

/** The report of a target at its end, and its cleanup. */
export interface TargetOptions {
  readonly summary?: () => readonly string[];
  readonly close?: () => Promise<void>;
}

/**
 * A target whose inputs are generated.
 *
 * @param check - Throws for an input that breaks a rule.
 */
export function createTarget<T>(
  inputs: fc.Arbitrary<T>,
  check: (input: T) => Promise<void> | void,
  { summary = () => [], close = async () => {} }: TargetOptions = {},
): FuzzTarget {
  const property = fc.asyncProperty(inputs, async (input) => check(input));
  return {
    async tryInputs(seed, count) {
      const details = await fc.check(property, { seed, numRuns: count, includeErrorInReport: true });
      return details.failed ? (fc.defaultReportMessage(details) ?? "failed") : null;
    },
    summary,
    [Symbol.asyncDispose]: close,
  };
}

/** The values of one kind, and in a 32nd of all cases of another. */
export function rarely<T>(usual: fc.Arbitrary<T>, others: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 31, arbitrary: usual }, { weight: 1, arbitrary: others });
}
