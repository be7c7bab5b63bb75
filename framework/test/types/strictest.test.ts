import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { declarationPaths } from "../support/packages.js";
import { compile, NEWEST, oldestCompilers } from "../support/typescript.js";

/** Each flag that can report an error in a declaration file, or in the use of one. */
const STRICTEST = {
  skipLibCheck: false,
  exactOptionalPropertyTypes: true,
  isolatedModules: true,
  noImplicitOverride: true,
  noPropertyAccessFromIndexSignature: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
};

const MAIN = `import { App, Query, t } from "tsgi";
export const app = new App({ problemDetails: true });
app.get("/", { params: { q: Query({ alias: "query" }), page: Query(t.Integer(), { default: 1 }) } }, async ({ q, page }) => q + page);
${Object.keys(declarationPaths())
  .map((entry, index) => `export * as entry${index} from "${entry}";`)
  .join("\n")}
`;

describe.each([...oldestCompilers, NEWEST])(
  "the declarations of every entry point, with TypeScript %s",
  (_, compiler) => {
    let folder = "";
    beforeAll(() => {
      folder = mkdtempSync(path.join(tmpdir(), "tsgi-strictest-"));
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it("compile with the strictest flags", () => {
      expect(compile(compiler(), folder, { "main.ts": MAIN }, STRICTEST)).toBe("");
    });
  },
);
