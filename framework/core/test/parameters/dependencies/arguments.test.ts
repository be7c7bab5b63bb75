/**
 * If the arguments are exactly the names of the pattern, they are the router's own object. Any other parameter makes
 * another one. @module
 */
import { expect, it } from "@jest/globals";
import { Path, Query, Request, type Params } from "../../../src/index.js";
import { describeMatrix } from "../../../../test/support/matrix.js";

const PATHS: readonly (readonly [path: string, targets: readonly string[]])[] = [
  ["/{id}", ["/7", "/a%20b", "/a%2Fb", "/%F0%9F%98%80", "/7/"]],
  ["/{a}/x/{b}", ["/1/x/2", "/1//x//2", "/%25/x/%2F"]],
  ["/{__proto__}/{constructor}/{toString}", ["/1/2/3"]],
  ["/{hasOwnProperty}", ["/1"]],
];

describeMatrix("arguments that are the names of the pattern", ({ probe }) => {
  const others: readonly (readonly [what: string, params: Params])[] = [
    ["a query", { other: Query({ default: null }) }],
    ["the request", { other: Request }],
  ];
  const cases = PATHS.flatMap(([path, targets]) => others.map((other) => [path, targets, ...other] as const));

  it.each(cases)("%s are the same with another parameter: %s, %s", async (path, targets, _what, params) => {
    for (const target of targets) {
      const alone = await probe({}, { path })(target);
      const { args: { other: _other, ...args } = {}, status } = await probe(params, { path })(target);
      expect([status, args]).toEqual([alone.status, { ...alone.args }]);
      expect(alone.args).toBeDefined();
    }
  });

  it("are the same declared as Path()", async () => {
    const alone = await probe({}, { path: "/{a}/{b}" })("/1/%2F");
    expect((await probe({ a: Path() }, { path: "/{a}/{b}" })("/1/%2F")).args).toEqual(alone.args);
    expect((await probe({ c: Path({ alias: "b" }) }, { path: "/{a}/{b}" })("/1/%2F")).args).toEqual({
      ...alone.args,
      c: "/",
    });
  });
});
