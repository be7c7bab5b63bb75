/** The place of a parameter in its request, which its faults get. @module */
import { type Faults, isSecretName } from "../schema/faults.js";
import { INVALID, type Parameter, type RequestParts } from "./source.js";

/** The place that `loc` begins with in the faults of a parameter. */
export class Location {
  readonly #inwards: readonly string[];
  readonly #isSecret: boolean;

  /** @param loc - Outside in. */
  constructor({ name, marker }: Parameter, loc: readonly string[]) {
    this.#inwards = loc.toReversed();
    this.#isSecret = isSecretName(name) || isSecretName(marker.options.alias ?? name);
  }

  /** Puts the faults since `from` here. Gives the result of a read that has faults. */
  mark(faults: Faults, from: number): typeof INVALID {
    if (this.#isSecret) faults.hideInputs(from);
    for (const part of this.#inwards) faults.within(from, part);
    return INVALID;
  }

  /** Ends a read that may be a promise: its faults, gathered apart from those of others, join them once it has settled. */
  settle({ faults }: RequestParts, own: Faults, result: unknown): unknown {
    const end = (settled: unknown) => {
      if (own.count === 0) return settled;
      this.mark(own, 0);
      faults.take(own.list);
      return INVALID;
    };
    return result instanceof Promise ? result.then(end) : end(result);
  }
}
