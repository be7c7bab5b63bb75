/** The files that a project has for its platform, checked against the schemas, types and parsers of the vendors. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { parse as parseJson } from "jsonc-parser";
import { parse, parseAllDocuments } from "yaml";

import { blocksOf } from "../docs/_blocks.js";
import { IS_SLOW } from "../support/on-demand.js";
import { FRAMEWORK } from "../support/packages.js";
import { createProject } from "./_project.js";
import { findResourceFaults } from "./_cloudformation.js";
import { findComposeFaults, findTypeFaults, findWranglerFaults, readNetlify } from "./_schemas.js";

const read = (...names: string[]) => readFileSync(path.join(...names), "utf8");

/** A copy with one property changed, so that a check must find it. */
const changed = <T extends object>(value: T, change: (copy: T & Record<string, never>) => void): T => {
  const copy = structuredClone(value);
  change(copy as T & Record<string, never>);
  return copy;
};

interface Manifest {
  readonly kind: string;
}

const manifestsOf = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as Manifest);

/** The resources of a template. Functions such as `!Sub` only occur in its outputs. */
function resourcesOf(text: string): { readonly Type: string; readonly Properties: Record<string, unknown> }[] {
  const { Resources } = parse(text.replaceAll("!Sub ", "")) as {
    Resources: Record<string, { Type: string; Properties: Record<string, unknown> }>;
  };
  return Object.values(Resources);
}

(IS_SLOW ? describe : describe.skip)("the files of a project for a platform (only with TSGI_SLOW=1)", () => {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), "tsgi-deploy-files-")));
  const projects = new Map<string, Promise<string>>();

  /** A project with these flags, which is created once. */
  const project = (flags: string): Promise<string> => {
    const folder = path.join(home, String(projects.size));
    const known = projects.get(flags);
    if (known !== undefined) return known;
    mkdirSync(folder);
    const created = createProject(folder, flags.split(" "));
    projects.set(flags, created);
    return created;
  };

  afterAll(() => rmSync(home, { recursive: true }));

  it("have a vercel.json of the type VercelConfig", async () => {
    const config = JSON.parse(read(await project("--template minimal --deploy vercel"), "vercel.json")) as object;
    const { $schema: _schema, ...settings } = config as Record<string, unknown>;
    expect(await findTypeFaults("vercel.json", settings)).toBe("");
    expect(await findTypeFaults("vercel.json", { ...settings, rewritse: [] })).toContain("rewritse");
  });

  it("have a netlify.toml that Netlify reads", async () => {
    const folder = await project("--template minimal --deploy netlify");
    expect(await readNetlify(folder)).toMatchObject({
      build: { publish: path.join(folder, "public"), functions: path.join(folder, "netlify/functions") },
      functions: { "*": { node_bundler: "esbuild", included_files: [expect.stringContaining("docs-ui")] } },
    });
  });

  it("have a wrangler.jsonc that fits the schema of wrangler", async () => {
    const folder = await project("--template minimal --deploy cloudflare");
    const config = parseJson(read(folder, "wrangler.jsonc")) as { observability: object };
    expect(findWranglerFaults(config)).toEqual([]);
    expect(findWranglerFaults({ ...config, compatibility_dat: "2026-11-01" })).not.toEqual([]);
  });

  it.each(["minimal", "api --database postgresql", "auth --database sqlite"])(
    "have a kubernetes/deployment.yaml of the types of Kubernetes: %s",
    async (template) => {
      const folder = await project(`--template ${template} --deploy kubernetes`);
      for (const manifest of manifestsOf(read(folder, "kubernetes/deployment.yaml"))) {
        expect({ kind: manifest.kind, faults: await findTypeFaults(manifest.kind, manifest) }).toEqual({
          kind: manifest.kind,
          faults: "",
        });
      }
    },
  );

  it("have a template.yaml whose function fits the specification of CloudFormation", async () => {
    const [resource] = resourcesOf(read(await project("--template minimal --deploy lambda"), "template.yaml"));
    if (resource === undefined) throw new Error("the template has no resource");
    expect(findResourceFaults(resource)).toEqual([]);
    const wrong = { ...resource, Properties: { ...resource.Properties, MemorySize: "much", Runtme: "nodejs22.x" } };
    expect(findResourceFaults(wrong)).toEqual(["Properties.MemorySize is not Integer", "Properties.Runtme is unknown"]);
  });

  it.each(["minimal", "api --database postgresql", "auth --database sqlite", "auth --database postgresql"])(
    "have a compose.yaml that fits the Compose Specification: %s",
    async (template) => {
      const config = parse(read(await project(`--template ${template}`), "compose.yaml")) as {
        services: { app: Record<string, unknown> };
      };
      expect(findComposeFaults(config)).toEqual([]);
      const wrong = changed(config, (copy) => void Object.assign(copy.services.app, { restart: true }));
      expect(findComposeFaults(wrong)).not.toEqual([]);
    },
  );
});

(IS_SLOW ? describe : describe.skip)("the files of this repository (only with TSGI_SLOW=1)", () => {
  const blocksIn = (page: string, language: string) =>
    blocksOf(page, read(FRAMEWORK, "docs", page)).filter((block) => block.language === language);
  let recipe: Manifest[];

  beforeAll(() => {
    recipe = blocksIn("cookbook/kubernetes.md", "yaml").flatMap(({ code }) => manifestsOf(code));
  });

  it("have a docker-compose.yml that fits the Compose Specification", () => {
    expect(findComposeFaults(parse(read(FRAMEWORK, "../docker-compose.yml"), { merge: true }))).toEqual([]);
  });

  it("have manifests of the types of Kubernetes in the cookbook", async () => {
    expect(recipe.map(({ kind }) => kind)).toEqual(["Deployment", "Service"]);
    for (const manifest of recipe) expect(await findTypeFaults(manifest.kind, manifest)).toBe("");
    const [deployment] = recipe;
    expect(await findTypeFaults("Deployment", { ...deployment, replicas: 2 })).toContain("replicas");
  });

  it("have a template on the page about Lambda that fits the specification of CloudFormation", () => {
    const resources = blocksIn("lambda.md", "yaml").flatMap(({ code }) => resourcesOf(code));
    expect(resources.length).toBe(1);
    expect(resources.flatMap(findResourceFaults)).toEqual([]);
  });
});
