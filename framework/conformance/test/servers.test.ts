import { describe, expect, it } from "@jest/globals";
import { serverStatements, whyNotApplicable } from "../src/index.js";
import { DIVERGENCES } from "./_divergences.js";
import { servers } from "./_servers.js";

describe.each(servers)("$name", ({ start, lacks }) => {
  const applicable = serverStatements.filter((statement) => whyNotApplicable(statement, lacks) === null);

  it.each(applicable.filter(({ id }) => !(id in DIVERGENCES)))("keeps $title", async ({ check }) => {
    await expect(check(start)).resolves.toBeUndefined();
  });

  it("differs only in the statements that the page lists", async () => {
    const different = applicable.filter(({ id }) => id in DIVERGENCES);
    const outcomes = await Promise.allSettled(different.map(({ check }) => check(start)));
    expect(outcomes.map(({ status }) => status)).toEqual(different.map(() => "rejected"));
  });
});
