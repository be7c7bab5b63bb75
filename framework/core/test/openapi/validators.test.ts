import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";

import type { OpenAPIDocument } from "../../src/openapi/types.js";
import { installOnDemand, IS_SLOW } from "../../../test/support/on-demand.js";
import { startSample } from "../../../test/support/sample.js";
import { faultsOf } from "./_documents.js";
import { createKitchenSink } from "./_kitchen-sink.js";

const run = promisify(execFile);

/** Validates the file that it is given; its package loads modules in a way that jest does not know. */
const SWAGGER_PARSER = `
  import parser from "@apidevtools/swagger-parser";
  const { openapi } = await parser.validate(process.argv[1]);
  console.log(openapi);
`;

/** The findings of redocly, by rule. */
interface Problem {
  ruleId: string;
  severity: string;
  location: { pointer?: string }[];
}

async function sampleDocument(): Promise<OpenAPIDocument> {
  await using sample = await startSample();
  const response = await fetch(`${sample.url}/openapi.json`);
  return (await response.json()) as OpenAPIDocument;
}

const slowly = IS_SLOW ? describe : describe.skip;

slowly.each<[string, () => Promise<OpenAPIDocument>]>([
  ["the sample application", sampleDocument],
  ["an application that uses every feature", async () => createKitchenSink().openapi()],
])("the document of %s", (_, load) => {
  let document: OpenAPIDocument;
  let home: string;
  let folder: string;
  let file: string;

  beforeAll(async () => {
    home = installOnDemand("validators", ["@redocly/cli@2.77.0", "@apidevtools/swagger-parser@13.1.0"]);
    folder = await mkdtemp(path.join(tmpdir(), "tsgi-openapi-"));
    document = await load();
    file = path.join(folder, "openapi.json");
    await writeFile(file, JSON.stringify(document));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("has no error that @seriousme/openapi-schema-validator finds", async () => {
    expect(await faultsOf(document)).toEqual([]);
  });

  it("has no error that @apidevtools/swagger-parser finds", async () => {
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", SWAGGER_PARSER, file], {
      cwd: home,
    });
    expect(stdout).toBe("3.0.3\n");
  });

  it("has no error that @redocly/cli's recommended rules find", async () => {
    const command = path.join(home, "node_modules/@redocly/cli/bin/cli.js");
    const flags = [command, "lint", file, "--extends=recommended", "--format=json"];
    // It looks for a newer version of itself, and ends with 1 where it finds errors, which the output lists.
    const options = { cwd: folder, env: { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" } };
    const { stdout } = await run(process.execPath, flags, options).catch((error: { stdout: string }) => error);
    const { problems } = JSON.parse(stdout) as { problems: Problem[] };
    const errors = problems.filter(({ severity }) => severity === "error");
    expect(errors.map(({ ruleId, location }) => `${ruleId} at ${location[0]?.pointer}`)).toEqual([]);
  });
});
