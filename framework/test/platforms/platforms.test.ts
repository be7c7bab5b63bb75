/** The statements on each platform, whose programs are fetched on demand. AWS's runtime interface client compiles for a minute. */
import { afterAll, beforeAll, describe } from "@jest/globals";
import { describeStatements } from "../anywhere/_describe.js";
import { IS_SLOW } from "../support/on-demand.js";
import { createHome, removeHome, type Running } from "./_platform.js";
import { platforms } from "./_platforms.js";

const isHere = IS_SLOW && process.platform === "linux" && process.arch === "x64";

(isHere ? describe : describe.skip)("a platform (skipped without TSGI_SLOW=1, and on others than Linux)", () => {
  describe.each(platforms)("$name", (platform) => {
    const home = createHome();
    let running: Running;
    beforeAll(async () => {
      running = await platform.start(home);
    });
    afterAll(async () => {
      await running.close();
      removeHome(home);
    });

    describeStatements(platform.name, () => running.url, platform.lacks);
  });
});
