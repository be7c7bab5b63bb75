import { describe, expect, it } from "@jest/globals";
import { IS_SLOW } from "../../test/support/on-demand.js";
import { recordedColumns } from "./_matrix.js";
import { runRuntimes } from "./_runtimes.js";

const slow = IS_SLOW ? it : it.skip;

describe("servers on uWebSockets.js, Bun and Deno", () => {
  slow(
    "match the results on the page: update it with `TSGI_SLOW=1 npm run conformance --prefix framework`",
    async () => {
      expect(await runRuntimes()).toEqual(recordedColumns());
    },
  );
});
