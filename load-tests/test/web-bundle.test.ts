import { expect, it } from "@jest/globals";
import { Progress } from "../src/progress.js";
import { readSettings } from "../src/settings.js";
import { MAIN_ENTRY, measureWebBundle } from "../src/web-bundle.js";

it("bundles the main entry point for the web, and leaves Node's modules outside", async () => {
  const progress = new Progress({ write: () => {} });
  const [ours] = await measureWebBundle(readSettings({}), progress);
  expect(ours).toMatchObject({ contender: "tsgi", faults: [] });
  const { minifiedKiB, gzipKiB } = ours?.rows[MAIN_ENTRY] ?? {};
  expect(gzipKiB?.median).toBeGreaterThan(10);
  expect(minifiedKiB?.median).toBeGreaterThan(gzipKiB?.median as number);
});
