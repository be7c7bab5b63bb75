import { expect, it } from "@jest/globals";
import { toTable } from "../src/table.js";

const HEAD = ["method", "path", "dependencies"];

it("makes each column as wide as its widest cell", () => {
  expect(toTable(HEAD, [["GET", "/items/{item_id}", "a, b"]]).split("\n")).toEqual([
    "method  path              dependencies",
    "──────  ────────────────  ────────────",
    "GET     /items/{item_id}  a, b",
  ]);
});

it.each([36, 40, 60, 80, 120])("uses at most %i columns, and loses no word", (width) => {
  const names = ["getServices", "getDb", "getCurrentAccount", "getRefreshTokens", "getLog"];
  const path = "/organisations/{organisation_id}/projects/{project_id}/members";
  const lines = toTable(HEAD, [["DELETE", path, names.join(", ")]], width).split("\n");
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
  expect(lines.slice(2).join("").replaceAll(/\s/g, "")).toHaveLength(`DELETE${path}${names.join(",")}`.length);
});

it("keeps every column even if no column can shrink further", () => {
  expect(toTable(HEAD, [["OPTIONS", "/a/very/long/path", "getServices"]], 10).split("\n")).toEqual([
    "method   path          dependencies",
    "───────  ────────────  ────────────",
    "OPTIONS  /a/very/long  getServices",
    "         /path",
  ]);
});
