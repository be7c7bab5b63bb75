import { describe, expect, it } from "@jest/globals";
import { showError, showFailure } from "../src/errors.js";
import { ConfigurationError } from "tsgi";

describe("an error that ends a command", () => {
  it("is shown with what caused it", () => {
    const error = new Error("outer", { cause: new TypeError("inner", { cause: "text" }) });
    expect(showError(error)).toMatch(/^Error: outer[^]*\ncaused by TypeError: inner[^]*\ncaused by text$/);
  });

  it("is shown with the errors that its cause contains", () => {
    const refused = new AggregateError([new Error("connect ECONNREFUSED ::1:1"), new Error("connect x")], "");
    expect(showFailure(new Error("No database", { cause: refused }))).toMatch(
      /^Error: No database[^]*\ncaused by AggregateError[^]*\ncontains Error: connect ECONNREFUSED ::1:1[^]*\ncontains Error: connect x/,
    );
  });

  it("is printed a limited number of times if it causes itself", () => {
    const error = new Error("round and round");
    error.cause = error;
    expect(showFailure(error).match(/round and round/g)?.length).toBe(8);
  });

  it("contains the code of its cause", () => {
    const cause = new ConfigurationError("Twice.", { code: "TSGI_DUPLICATE_ROUTE" });
    expect(showFailure(new Error("The start failed.", { cause }))).toMatch(
      /\nRead more: tsgi explain TSGI_DUPLICATE_ROUTE$/,
    );
  });
});
