import { expect, it } from "@jest/globals";
import { readEnvelope } from "../src/definition.js";

const DEFAULTS = { failures: 0, attempts: 5, backoffSeconds: 10, timeoutSeconds: 60 };
const OWN = { payload: { to: "a" }, failures: 2, attempts: 3, backoffSeconds: 1, timeoutSeconds: 2, trace: { a: "b" } };

it.each([
  [null, DEFAULTS],
  ["text", DEFAULTS],
  [[1], DEFAULTS],
  [
    { to: "a", failures: "1", trace: { a: 1 } },
    { to: "a", ...DEFAULTS },
  ],
  [OWN, OWN],
])("a stored job of %j is a run with rules", (stored, envelope) => {
  expect(readEnvelope(stored)).toEqual(envelope);
});
