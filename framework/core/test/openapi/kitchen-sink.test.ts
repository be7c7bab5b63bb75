import { describe, expect, it } from "@jest/globals";
import { faultsOf } from "./_documents.js";
import { createKitchenSink } from "./_kitchen-sink.js";

describe("the document of an application that uses every feature", () => {
  it.each(["3.0", "3.1", "3.2"] as const)("is valid OpenAPI %s by the published meta-schema", async (version) => {
    const document = createKitchenSink(version).openapi();
    expect(document.openapi.startsWith(version)).toBe(true);
    expect(await faultsOf(document)).toEqual([]);
  });

  it("lists a component for every named object schema, and two if defaults make input and output differ", () => {
    const { schemas = {} } = createKitchenSink().openapi().components ?? {};
    expect(Object.keys(schemas).join(" ")).toBe(
      "Address Cat Contact Dog HTTPError HTTPValidationError Item ItemInput Node Node2 Note NoteInput Owner Pet Problem " +
        "Subscription Token Tree User UserInput ValidationError ValidationErrorInput ValidationErrorLocation",
    );
  });
});
