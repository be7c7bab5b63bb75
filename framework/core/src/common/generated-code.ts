/**
 * Makes a function out of text, with the variables that it uses: the one home of generated code. Runtimes that forbid
 * it use plain code with the same results instead.
 *
 * @returns `null` where code from text is forbidden: HTML and ECMA-262, HostEnsureCanCompileStrings.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the type of its own code
export function compileCode<Compiled>(code: string, variables: Readonly<Record<string, unknown>>): Compiled | null {
  try {
    // oxlint-disable-next-line typescript/no-implied-eval -- names of patterns and schemas stand in it as JSON texts alone
    const make = new Function(...Object.keys(variables), code) as (...values: unknown[]) => Compiled;
    return make(...Object.values(variables));
  } catch (error) {
    if (error instanceof EvalError) return null;
    throw error;
  }
}
