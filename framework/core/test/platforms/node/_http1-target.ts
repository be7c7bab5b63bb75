/** Requests for the fuzzer: `serve`, compared with `node:http`. @module */
import type { OpenTarget } from "./_fuzz-target.js";
import { Differential } from "./_http1-differential.js";
import type { Rule } from "./_http1-differences.js";
import { textsOf, tryAll } from "./_http1-trial.js";

export const openHTTP1: OpenTarget = async () => {
  const both = await Differential.start();
  const used = new Map<Rule, number>();
  return {
    async tryInputs(seed, count) {
      const failure = await tryAll(both, textsOf(seed, count), used);
      if (failure === null && both.logged.length === 0) return null;
      const logged = both.logged.map((line) => `logged: ${JSON.stringify(line)}`);
      return [`input: ${JSON.stringify(failure?.text)}`, failure?.reason ?? "", ...logged].join("\n");
    },
    summary: () =>
      [...used]
        .toSorted(([, a], [, b]) => b - a)
        .map(([{ name }, count]) => `${count} differences from node:http: ${name}`),
    [Symbol.asyncDispose]: () => both[Symbol.asyncDispose](),
  };
};
