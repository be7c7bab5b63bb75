/** Dependencies that are generators, and show how they end. @module */
import { HTTPException } from "../../core/src/index.js";
import { Broken, type Trace } from "./_pairs-trace.js";

/** Options of `generatorOf`. */
interface GeneratorOptions {
  /** Put before its events. */
  readonly name: "" | "guard ";
  /** A level of a factor of either array. */
  readonly level: string;
  readonly start: () => unknown;
  readonly push: Trace["push"];
}

/** Levels whose cleanup runs before the response. */
const OF_FUNCTION = ["function generator", "failing commit"];

export const scopeOf = (level: string): "function" | "request" =>
  OF_FUNCTION.includes(level) ? "function" : "request";

/** A generator that yields once. Those of scope "function" are not asynchronous. */
export function generatorOf({ name, level, start, push }: GeneratorOptions): () => unknown {
  const fail = (error: unknown): void => {
    push(`${name}error`);
    if (level === "swallows") return;
    throw level === "replaces" ? new HTTPException(410, "Replaced") : error;
  };
  const end = (): void => {
    push(`${name}end`);
    if (level === "late failure" || level === "failing commit") throw new Broken("cleanup");
  };
  if (OF_FUNCTION.includes(level)) {
    return function* () {
      try {
        yield start();
      } catch (error) {
        fail(error);
        return;
      }
      end();
    };
  }
  return async function* () {
    try {
      yield start();
    } catch (error) {
      fail(error);
      return;
    }
    end();
  };
}
