/** Cleanup of dependencies: the code after their `yield`. @module */
import type { Logger } from "../../common/logger.js";
import type { DependencyScope } from "../depends.js";

/** The parts of a generator that cleanup needs. */
export type Resumable = Pick<
  Generator<unknown, unknown, unknown> | AsyncGenerator<unknown, unknown, unknown>,
  "next" | "throw" | "return"
>;

/** A dependency that has yielded its value and waits to clean up. */
export interface Exit {
  readonly generator: Resumable;
  /** `"transaction"`: after scope `"function"`, before the response is sent. */
  readonly scope: DependencyScope | "transaction";
  readonly name: string;
}

/**
 * An error of a handler that a dependency swallowed: the request then has neither a result nor an error for a response.
 */
class SwallowedError extends Error {
  override readonly name = "SwallowedError";
}

/** Resumes a generator after its `yield`. A second yield is logged, and the generator closed. */
async function finish(exit: Exit, logger: Logger): Promise<void> {
  const step = await exit.generator.next();
  if (step.done) return;
  logger.error({ dependency: exit.name }, `The dependency ${exit.name} yields more than once`);
  await exit.generator.return(undefined);
}

/**
 * Cleans up one scope after success, in reverse order of start.
 *
 * @throws the error of a cleanup before the response is sent, with the others still open: a commit that failed must not
 * look like a success. In the other scopes an error is logged, and the others still run.
 */
export async function closeExits(exits: Exit[], scope: Exit["scope"], logger: Logger): Promise<void> {
  for (let index = exits.length - 1; index >= 0; index--) {
    const exit = exits[index] as Exit;
    if (exit.scope !== scope) continue;
    exits.splice(index, 1);
    try {
      await finish(exit, logger);
    } catch (error) {
      if (scope === "function" || scope === "transaction") throw error;
      logger.error({ err: error, dependency: exit.name }, `The cleanup of the dependency ${exit.name} failed`);
    }
  }
}

/**
 * Throws an error into the generators, last started first, each of which may clean up, replace the error, or swallow
 * it. Returns the error that the outermost one throws.
 */
export async function throwIntoExits(exits: Exit[], cause: unknown, logger: Logger): Promise<unknown> {
  let error = cause;
  for (let exit = exits.pop(); exit; exit = exits.pop()) {
    try {
      const step = await exit.generator.throw(error);
      if (!step.done) {
        logger.error({ dependency: exit.name }, `The dependency ${exit.name} yields more than once`);
        await exit.generator.return(undefined);
      }
      error = new SwallowedError(
        `The dependency ${exit.name} swallowed an error, so it has no result. Throw the error again after the cleanup.`,
        { cause: error },
      );
    } catch (thrown) {
      error = thrown;
    }
  }
  return error;
}
