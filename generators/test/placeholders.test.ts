import { describe, expect, it } from "@jest/globals";
import { fillPlaceholders } from "../src/placeholders.js";

const values = { name: "my-app", docker: true, ci: false };

describe("a text with placeholders", () => {
  it.each([
    ["# {{name}}\n", "# my-app\n"],
    ["a\n{{#docker}}\nb\n{{/docker}}\nc\n", "a\nb\nc\n"],
    ["a\n{{#ci}}\nb\n{{/ci}}\nc\n", "a\nc\n"],
    ["a\n{{^ci}}\nb\n{{/ci}}\nc\n", "a\nb\nc\n"],
    ["  # {{#ci}}\n  b\n  # {{/ci}}\n", ""],
    ["// {{#docker}}\nb\n// {{/docker}}\n", "b\n"],
    ["{{#docker}}\n{{#ci}}\na\n{{/ci}}\nb\n{{/docker}}\n", "b\n"],
    ["a\n\n{{#ci}}\n\nb\n\n{{/ci}}\n\nc\n", "a\n\nc\n"],
    ["node: ${{ matrix.node }}\n", "node: ${{ matrix.node }}\n"],
  ])("%j becomes %j", (text, expected) => {
    expect(fillPlaceholders(text, values)).toBe(expected);
  });

  it.each([
    ["{{nobody}}", "{{nobody}} has no value"],
    ["{{constructor}}", "{{constructor}} has no value"],
    ["{{#docker}}\n", "{{#docker}} is not closed"],
    ["{{/docker}}\n", "{{/docker}} has no opening tag"],
    ["{{#docker}}\n{{/ci}}\n", "{{/ci}} has no opening tag"],
  ])("%j is rejected", (text, message) => {
    expect(() => fillPlaceholders(text, values)).toThrow(message);
  });
});
