import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { findProgram } from "../src/program.js";

let root = "";
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "tsgi-program-"));
  await mkdir(path.join(root, "app/src"), { recursive: true });
});
afterAll(() => rm(root, { recursive: true }));

it("is the name of the nearest package.json at or above the folder", async () => {
  expect(findProgram(path.join(root, "app/src"))).toBeNull();
  await writeFile(path.join(root, "package.json"), '{ "name": "outer" }');
  expect(findProgram(path.join(root, "app/src"))).toBe("outer");
  await writeFile(path.join(root, "app/package.json"), '{ "name": "@shop/api" }');
  expect(findProgram(path.join(root, "app/src"))).toBe("@shop/api");
  expect(findProgram(path.join(root, "app"))).toBe("@shop/api");
});

it.each(["{}", '{ "name": 1 }', '{ "name": "" }', "[]", "{"])("is unknown if the nearest one is %s", async (text) => {
  await writeFile(path.join(root, "package.json"), '{ "name": "outer" }');
  await writeFile(path.join(root, "app/package.json"), text);
  expect(findProgram(path.join(root, "app/src"))).toBeNull();
});
