import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "@jest/globals";
import type { OpenAPIDocument } from "../../src/openapi/types.js";
import { installOnDemand, IS_SLOW } from "../../../test/support/on-demand.js";
import { faultsOf } from "./_documents.js";
import { createKitchenSink } from "./_kitchen-sink.js";
import { recipeDocuments } from "./_recipes.js";

const PACKAGES = [
  "@redocly/openapi-core@2.64.0",
  "@stoplight/spectral-core@1.24.1",
  "@stoplight/spectral-rulesets@1.23.1",
];

/** Prints the findings of both by document, each as `linter severity rule place`. */
const LINT = `
  import { text } from "node:stream/consumers";
  import { createRequire } from "node:module";
  import { createConfig, lintFromString } from "@redocly/openapi-core";
  const require = createRequire(process.cwd() + "/index.js");
  const { Ruleset, Spectral } = require("@stoplight/spectral-core");
  const { oas } = require("@stoplight/spectral-rulesets");
  const config = await createConfig({ extends: ["recommended"] });
  const found = {};
  for (const [name, document] of Object.entries(JSON.parse(await text(process.stdin)))) {
    const source = JSON.stringify(document);
    const problems = await lintFromString({ source, absoluteRef: "/openapi.json", config });
    const spectral = new Spectral();
    spectral.setRuleset(new Ruleset({ extends: [[oas, "recommended"]] }));
    found[name] = [
      ...problems.map(({ severity, ruleId, location }) => ["redocly", severity, ruleId, location[0]?.pointer].join(" ")),
      ...(await spectral.run(document)).map(({ severity, code, path }) =>
        ["spectral", severity === 0 ? "error" : "warn", code, path.join("/")].join(" ")),
    ];
  }
  process.stdout.write(JSON.stringify(found));
`;

async function lint(documents: Readonly<Record<string, OpenAPIDocument>>): Promise<Record<string, string[]>> {
  const cwd = installOnDemand("document-linters", PACKAGES);
  const child = spawn(process.execPath, ["--input-type=module", "--eval", LINT], {
    cwd,
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(JSON.stringify(documents));
  return JSON.parse(await text(child.stdout)) as Record<string, string[]>;
}

/** Rules about the author's text, each with its requirement. */
const OF_THE_AUTHOR: Readonly<Record<string, string>> = {
  "info-contact": "`contact`",
  "info-description": "`description` of the App",
  "info-license": "`license`",
  "no-server-example.com": "`servers` other than an example's",
  "operation-2xx-response": "a route that redirects has no other answer",
  "operation-4xx-response": "a route without parameters refuses nobody",
  "operation-description": "`description` of a route",
  "operation-tags": "`tags` of a route",
  "tag-description": "descriptions in `tags` of the App",
};

/** An error of Spectral: it mistakes `items: false`, which ends a tuple in draft 2020-12, for missing `items`. */
const TUPLE = /^spectral error array-items \S+\/point\/items$/;

/** Spectral requires that `flows` lists a scope. A scheme `openIdConnect` has no flows (OpenAPI 3.1.1 §4.8.27.1). */
const SCOPE = /^spectral warn oas3-operation-security-defined \S+\/([^/\s]+)\/\d+$/;

const isMistakeOfSpectral = (finding: string, { components }: OpenAPIDocument) => {
  const scheme = SCOPE.exec(finding)?.[1];
  return TUPLE.test(finding) || components?.securitySchemes?.[scheme ?? ""]?.type === "openIdConnect";
};

/** The findings about the framework's own parts of a document. */
const ours = (document: OpenAPIDocument, findings: readonly string[] = []) =>
  findings.filter((finding) => !OF_THE_AUTHOR[finding.split(" ")[2] ?? ""] && !isMistakeOfSpectral(finding, document));

const slowly = IS_SLOW ? describe : describe.skip;

slowly("Redocly and Spectral", () => {
  let documents: Record<string, OpenAPIDocument>;
  let findings: Record<string, string[]>;

  beforeAll(async () => {
    const witnesses = (["3.0", "3.1", "3.2"] as const).map((version) => [
      `every feature in ${version}`,
      createKitchenSink(version).openapi(),
    ]);
    documents = { ...(await recipeDocuments()), ...Object.fromEntries(witnesses) };
    findings = await lint(documents);
  }, 600_000);

  it("read every feature, the sample application and the recipes of the cookbook in all versions", () => {
    expect(Object.keys(findings).length).toBeGreaterThan(3 * 45);
    expect(Object.keys(findings)).toEqual(expect.arrayContaining(["sample in 3.1", "cors in 3.2"]));
  });

  it("find no error, and no warning about the framework's own parts", () => {
    const found = Object.entries(documents).map(([name, document]) => [name, ours(document, findings[name])] as const);
    expect(found.filter(([, list]) => list.length > 0)).toEqual([]);
  });

  it("report missing parts of a document", async () => {
    const [first] = Object.values(documents) as [OpenAPIDocument];
    const broken = { ...first, paths: { "/a": { get: { responses: {} } } } } as unknown as OpenAPIDocument;
    const { broken: list } = await lint({ broken });
    expect(ours(broken, list).length).toBeGreaterThan(1);
  });

  it("agree with the published meta-schema", async () => {
    const faults = await Promise.all(
      Object.entries(documents).map(async ([name, document]) => [name, await faultsOf(document)] as const),
    );
    expect(faults.filter(([, list]) => list.length > 0)).toEqual([]);
  });
});
