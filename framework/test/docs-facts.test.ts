/** Facts that pages state about the product, compared with the code or the configuration that decides them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";

import { createProgram } from "../cli/src/program.js";
import { Terminal } from "../cli/src/terminal.js";
import { App } from "../core/src/index.js";
import type { OpenAPIVersion } from "../core/src/openapi/versions.js";

const ROOT = path.join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");
const page = (name: string) => read(`framework/docs/${name}`);

interface Manifest {
  readonly name: string;
  readonly exports?: object;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const manifest = (folder: string) => JSON.parse(read(`${folder}/package.json`)) as Manifest;

/** The manifests of the published packages. */
const packages = readdirSync(path.join(ROOT, "framework"))
  .map((name) => `framework/${name}`)
  .filter((folder) => existsSync(path.join(ROOT, folder, "package.json")))
  .map(manifest);

/** The one match of a pattern's group in a text. */
function find(text: string, pattern: RegExp): string {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`Nothing matches ${String(pattern)}.`);
  return found;
}

describe("the pages", () => {
  it("list the Node versions of the workflow", () => {
    const versions = find(read(".github/workflows/ci.yml"), /node: \[([^\]]+)\]/).split(", ");
    const list = `${versions.slice(0, -1).join(", ")} and ${versions.at(-1)}`;
    for (const text of [page("versioning.md"), page("server.md"), read("CONTRIBUTING.md")]) {
      expect(text).toMatch(new RegExp(`(?:tests run on|on Node|under Node) ${list}`));
    }
  });

  it("name the system of the workflows", () => {
    for (const workflow of ["ci", "release"]) {
      expect(find(read(`.github/workflows/${workflow}.yml`), /runs-on: (\S+)/)).toBe(
        find(page("versioning.md"), /the workflow uses `([^`]+)`/),
      );
    }
  });

  it("say which command installs which packages", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Readonly<Record<string, string>> };
    const folders = find(scripts["prestart"] ?? "", /^node \.ci\/setup\.cjs ([\w -]+?) &&/).split(" ");
    expect(scripts["build"]).toMatch(/^node \.ci\/setup\.cjs &&/);
    const text = read("CONTRIBUTING.md").replaceAll(/\s+/g, " ");
    expect(text).toContain(`\`make run\` the packages of ${folders.map((folder) => `\`${folder}\``).join(" and ")}`);
    const readme = read("README.md").replaceAll(/\s+/g, " ");
    expect(readme).toContain(
      "The first `make run` takes one to three minutes, because it installs the packages of the sample",
    );
    expect(readme).toContain("The first `make build` installs the other packages");
  });

  it("list the Bun and Deno versions that the tests start", () => {
    const runtimes = read("framework/scripts/runtimes.js");
    const bun = find(runtimes, /bun-linux-x64-baseline@(\d+\.\d+)/);
    const deno = find(runtimes, /linux-x64-glibc@(\d+\.\d+)/);
    for (const text of [page("server.md"), page("web.md")]) {
      expect(text).toContain(`Bun ${bun}`);
      expect(text).toContain(`Deno ${deno}`);
    }
  });

  it("list the compilers that check the public types", () => {
    const { devDependencies } = manifest("framework");
    const compilers = Object.entries(devDependencies ?? {}).filter(([name]) => name.startsWith("typescript"));
    expect(compilers.length).toBeGreaterThan(1);
    const stated = find(page("versioning.md"), /published types are checked with ([^,]+, \S+ and \S+),/).split(
      /, | and /,
    );
    for (const [, version] of compilers) {
      const [major = "", minor] = version.replace(/^npm:typescript@/, "").split(".");
      expect(stated).toContain(stated.includes(major) ? major : `${major}.${minor}`);
    }
  });

  it("list the OpenAPI versions that an App accepts, and the default", () => {
    const documentOf = (openapiVersion?: OpenAPIVersion) =>
      new App(openapiVersion === undefined ? {} : { openapiVersion }).openapi().openapi;
    const versions: Record<OpenAPIVersion, string> = {
      "3.0": documentOf("3.0"),
      "3.1": documentOf("3.1"),
      "3.2": documentOf("3.2"),
    };
    const names = Object.keys(versions);
    expect(page("comparison.md")).toMatch(new RegExp(`\\| OpenAPI +\\| built in, ${names[0]} to ${names.at(-1)} `));
    expect(page("openapi.md")).toContain(documentOf());
    for (const version of Object.values(versions)) expect(page("openapi.md")).toContain(version);
  });

  it("list the platforms that the tests send requests to", () => {
    const results = page("platforms.md").split("<!-- end of results -->", 1).join("");
    for (const text of [read("README.md"), page("why-another-framework.md")]) {
      const platforms = find(text, /(AWS Lambda, Vercel,[\w\s,]+ and Deno)/).split(/,\s+|\sand\s/);
      expect(platforms).toHaveLength(6);
      for (const platform of platforms) expect(results).toMatch(new RegExp(`^\\|[ \\d]+\\| ${platform}\\b`, "m"));
    }
  });

  it("name each package that their code imports", () => {
    const missing = readdirSync(path.join(ROOT, "framework/docs"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .flatMap((name) => {
        const code = [...page(name).matchAll(/^```tsx?(?: before| \[[^\]]+\])*\n(.*?)^```/gms)].map(([block]) => block);
        const words = page(name).replaceAll(/^```(?:tsx?|js)\b.*?^```/gms, "");
        const imported = code.join("\n").matchAll(/\bfrom "((?:@[^/"]+\/)?[^/".:]+)[^":]*";$/gm);
        return [...imported]
          .filter(([, library = ""]) => library !== "tsgi" && !words.includes(library))
          .map(([, library]) => [name, library]);
      });
    expect(missing).toEqual([]);
  });

  it("name a test for each row of the comparison", () => {
    const [first = "", sources = ""] = page("comparison.md").split("## Sources");
    const rowsIn = (text: string) =>
      [...text.matchAll(/^\| ([^|]*?) +\| ([^|]*)\|/gm)].filter(([, name = ""]) => /[A-Z]/.test(name));
    const rows = rowsIn(first).map(([, name]) => name);
    const tested = rowsIn(sources).slice(1);
    expect(tested.map(([, name]) => name)).toEqual(rows);
    expect(rows.length).toBeGreaterThan(10);
    for (const [, , cell = ""] of tested) expect(existsSync(path.join(ROOT, find(cell, /`([^`]+)`/)))).toBe(true);
  });

  it("describe each command in the words of tsgi --help", () => {
    const rows = [...page("cli.md").matchAll(/^\| `tsgi (\w+)[^|]*(?:\\\|[^|]*)*\| (.*?) *\|$/gm)];
    const plain = (text: string) => text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
    for (const command of createProgram(new Terminal(process), () => {}).commands) {
      const described = rows.filter(([, name]) => name === command.name()).map(([, , text = ""]) => plain(text));
      expect({
        command: command.name(),
        begins: described.some((text) => text.startsWith(command.description())),
      }).toEqual({ command: command.name(), begins: true });
    }
  });

  it("probe the routes of health()", () => {
    for (const text of [page("deployment.md"), page("health.md"), page("cookbook/kubernetes.md")]) {
      expect(text).toContain("/live");
      expect(text).toContain("/ready");
    }
  });

  it("list each official package, its dependencies and its peers", () => {
    const lines = page("official-packages.md").split("\n");
    const listed = lines.flatMap((line) => /^\| \[`([^`]+)`\]/.exec(line)?.[1] ?? []);
    expect(listed.toSorted()).toEqual(packages.map(({ name }) => name).toSorted());
    for (const { name, dependencies = {}, peerDependencies = {} } of packages) {
      const [row = ""] = lines.filter((line) => line.startsWith(`| \`${name}\` `));
      const cells = row
        .split("|")
        .map((cell) => [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, library]) => library ?? []).toSorted());
      expect({ name, cells: cells.slice(2, 4) }).toEqual({
        name,
        cells: [Object.keys(dependencies).toSorted(), Object.keys(peerDependencies).toSorted()],
      });
    }
  });

  it("list each entry point of each package", () => {
    const entries = packages.flatMap(({ name, exports = {} }) =>
      Object.keys(exports)
        .filter((entry) => entry !== "./package.json")
        .map((entry) => path.posix.join(name, entry)),
    );
    expect(entries.length).toBeGreaterThan(20);
    const texts = readdirSync(path.join(ROOT, "framework/docs"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => page(name))
      .join("\n");
    expect(entries.filter((entry) => !texts.includes(entry))).toEqual([]);
  });
});
