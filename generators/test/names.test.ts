import { expect, it } from "@jest/globals";
import { articleOf, wordsOf } from "../src/sub-generators/names.js";

it.each([
  ["note", "a note"],
  ["invoice", "an invoice"],
  ["user", "a user"],
  ["unit-price", "a unit price"],
  ["unimportant-note", "an unimportant note"],
  ["umbrella", "an umbrella"],
  ["european-order", "a european order"],
  ["event", "an event"],
  ["one-time-code", "a one time code"],
  ["order", "an order"],
  ["hour", "an hour"],
  ["house", "a house"],
  ["api-key", "an API key"],
  ["url", "a URL"],
  ["sms", "an SMS"],
  ["short-url", "a short URL"],
])("the model %s is described as %s", (kebab, expected) => {
  const words = wordsOf(kebab);
  expect(`${articleOf(words)} ${words}`).toBe(expected);
});
