/** The table on the drivers of other runtimes. @module */
import { describe } from "@jest/globals";
import { IS_SLOW } from "../../../test/support/on-demand.js";
import { remoteDrivers } from "./_remote.js";
import { describeStatements } from "./_statement.js";
import { statements } from "./_statements.js";

const isHere = IS_SLOW && process.platform === "linux" && process.arch === "x64";

(isHere ? describe : describe.skip)("on other runtimes", () => {
  describeStatements(statements, remoteDrivers);
});
