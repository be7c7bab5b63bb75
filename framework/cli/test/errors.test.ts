import { describe, expect, it } from "@jest/globals";
import { showError, showFailure } from "../src/errors.js";
import { ConfigurationError } from "tsgi";

describe("an error that ends a command", () => {
  it("is shown with what caused it", () => {
    const error = new Error("outer", { cause: new TypeError("inner", { cause: "text" }) });
    expect(showError(error)).toMatch(/^Error: outer[^]*\ncaused by TypeError: inner[^]*\ncaused by text$/);
  });

  it("is shown a bounded number of times where it causes itself", () => {
    const error = new Error("round and round");
    error.cause = error;
    expect(showFailure(error).match(/round and round/g)?.length).toBe(8);
  });

  it("names the code of what caused it", () => {
    const cause = new ConfigurationError("Twice.", { code: "TSGI_DUPLICATE_ROUTE" });
    expect(showFailure(new Error("The start failed.", { cause }))).toMatch(
      /\nRead more: tsgi explain TSGI_DUPLICATE_ROUTE$/,
    );
  });
});
