/** The work of each parser that a request reaches. It is counted, so the tests do not depend on the speed of a machine. */
import { describe, expect, it } from "@jest/globals";
import { REQUESTS } from "./_requests.js";
import { oneCharacter, tooExpensive, twoCharacters } from "./_work.js";

describe.each(REQUESTS.map((parser) => [parser.name, parser] as const))("%s", (_, parser) => {
  it("takes a number of steps in proportion to 16 KB of one character", async () => {
    expect(await tooExpensive(parser, oneCharacter(parser))).toEqual([]);
  });

  it("takes a number of steps in proportion to two repeated characters", async () => {
    expect(await tooExpensive(parser, twoCharacters(parser, ["a", " ", ",", '"']))).toEqual([]);
  });
});
