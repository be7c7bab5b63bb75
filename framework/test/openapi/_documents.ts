import { expect } from "@jest/globals";
import { Validator } from "@seriousme/openapi-schema-validator";
import type { OpenAPIDocument } from "../../src/openapi.js";

/** Fails with the validator's own words when a document is not valid OpenAPI 3.0. */
export async function expectValid(document: OpenAPIDocument): Promise<void> {
  const result = await new Validator().validate(JSON.stringify(document));
  expect(result).toEqual({ valid: true });
}
