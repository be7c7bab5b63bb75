import { expect, it } from "@jest/globals";
import { isUnavailable } from "../src/unavailable.js";

const coded = (code: string) => Object.assign(new Error("failed"), { code });

it.each(["ECONNREFUSED", "EAI_AGAIN", "57P01", "53300", "08006"])(
  "an error %s says that the database is unavailable",
  (code) => {
    expect(isUnavailable(coded(code))).toBe(true);
    expect(isUnavailable(new AggregateError([coded("EINVAL"), coded(code)]))).toBe(true);
  },
);

it.each(["23505", "42P01", "ERR_INVALID_ARG_TYPE"])("an error %s is of another kind", (code) => {
  expect(isUnavailable(coded(code))).toBe(false);
});
