import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { PAGE, recordedColumns, renderPage, runApplications, runServers, unpadded } from "./_matrix.js";

it("matches the result of a run: update it with `npm run conformance --prefix framework`", async () => {
  const onServers = [...(await runServers()), ...recordedColumns()];
  const page = renderPage(onServers, await runApplications());
  expect(unpadded(readFileSync(PAGE, "utf8"))).toBe(unpadded(page));
  expect(page).not.toContain("**no**");
});
