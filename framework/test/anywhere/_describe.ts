/** The statements as tests. */
import { describe, expect, it } from "@jest/globals";
import { checkStatement, lackOf, statements, type Subject } from "./_statements.js";

/**
 * Defines a test for each statement. The tests of features that the subject lacks are reported as skipped, with the reason.
 *
 * @param url - Returns the origin of the subject's server, without a slash at its end. Called by each test.
 */
export function describeStatements(name: string, url: () => string, lacks: Subject["lacks"] = {}): void {
  const all = statements.map((statement) => ({ statement, reason: lackOf({ lacks }, statement) }));
  const checked = all.filter(({ reason }) => reason === null);
  const lacking = all.filter(({ reason }) => reason !== null);
  const skipped = lacking.length > 0 ? it.skip : it;
  describe(`an application by ${name}`, () => {
    it.each(checked)("$statement.title", async ({ statement }) => {
      await expect(checkStatement({ url: url() }, statement)).resolves.toBeUndefined();
    });
    if (lacking.length > 0) skipped.each(lacking)("$statement.title ($reason)", () => expect(lacks).toEqual({}));
  });
}
