/** `create-tsgi package`: a package with routes that applications include. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Cancellation } from "./cancellation.js";
import { UsageError } from "./errors.js";
import { allOf, selectPackages, specifiersOf, vendoredPins } from "./framework-packages.js";
import type { CodeReport } from "./generate-code.js";
import { sortKeys, toJson } from "./json.js";
import { fillPlaceholders } from "./placeholders.js";
import { planProject, refuseOccupied } from "./plan.js";
import type { ProjectFile } from "./project-file.js";
import { findNameFault, folderOf } from "./project-name.js";
import { readName } from "./sub-generators/names.js";
import { findTemplates } from "./templates.js";
import { writeProject } from "./write-project.js";

/** The options of a new package. */
export interface PackageSettings {
  /** The folder of create-tsgi. */
  packageRoot: string;
  /** The parent of the new folder. */
  parent: string;
  command: { name: string; dryRun: boolean };
  cancellation: Pick<Cancellation, "consequence">;
  print: (line: string) => void;
  report?: (report: CodeReport) => void;
}

/** The files, and their texts in `code/package/`. */
const texts: Readonly<Record<string, string>> = {
  "README.md": "readme",
  "src/index.ts": "index",
  "test/index.test.ts": "test",
  "test/tsconfig.json": "test-tsconfig",
  "tsconfig.json": "tsconfig",
};

/** The development packages that a package needs. Its tests run on Node's own runner. */
const tools = ["@types/node", "tsx", "typescript"];

/**
 * Writes a package into a new folder of its name.
 *
 * @throws CommandError for a folder that is not empty, UsageError for a name that npm or TypeScript rejects
 */
export async function createPackage(settings: PackageSettings): Promise<void> {
  const { packageRoot, parent, command, cancellation, print, report } = settings;
  const plan = planProject(resolve(parent, folderOf(command.name)), await renderPackage(command.name, packageRoot));
  refuseOccupied(plan);
  if (!command.dryRun) {
    writeProject(plan);
    cancellation.consequence = "the files are written";
  }
  const files = plan.entries.map(({ file, action }) => ({ path: file.path, action }));
  const notes = [`Next: cd ${folderOf(command.name)}, npm install, npm test. Applications include its router.`];
  const head = command.dryRun ? ["Dry run, no files are written:"] : [];
  print([...head, ...files.map(({ path, action }) => `  ${action.padEnd(9)} ${path}`), ...notes].join("\n"));
  report?.({ folder: plan.folder, dryRun: command.dryRun, files, notes });
}

/** The files of a package. */
async function renderPackage(name: string, packageRoot: string): Promise<ProjectFile[]> {
  const fault = findNameFault(name);
  if (fault !== null) {
    throw new UsageError(fault);
  }
  const values = { name, ...readName(folderOf(name), "package") };
  const written = Object.entries(texts).map(([path, text]) => {
    const source = readFileSync(join(packageRoot, `code/package/${text}.txt`), "utf8");
    return textFile(path, fillPlaceholders(source, values));
  });
  const template = findTemplates(packageRoot).read("minimal");
  const used = selectPackages(template, written, {});
  const version = template.packages.get("tsgi")?.version ?? "";
  const { devDependencies } = template.workspace;
  const manifest = {
    name,
    version: "0.1.0",
    type: "module",
    keywords: ["tsgi"],
    exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
    files: ["dist"],
    scripts: { build: "tsc", test: "tsc && tsc -p test && node --import tsx --test test/*.test.ts", prepack: "tsc" },
    // Two copies of tsgi would have two sets of classes. Before 1.0, a minor version may contain breaking changes.
    peerDependencies: { tsgi: `^${version}` },
    devDependencies: sortKeys({
      ...specifiersOf(used.dependencies),
      ...specifiersOf(used.devDependencies),
      ...Object.fromEntries(Object.entries(devDependencies).filter(([tool]) => tools.includes(tool))),
    }),
    ...(Object.keys(vendoredPins(used)).length > 0 && { overrides: vendoredPins(used) }),
  };
  const tarballs = [...allOf(used).values()].flatMap(({ tarball }) => tarball ?? []);
  const vendored = tarballs.map(async ({ path, read }) => ({ path, contents: await read(), mode: 0o666 }));
  return [
    textFile(".gitignore", "dist/\nnode_modules/\n"),
    textFile("package.json", toJson(manifest)),
    ...written,
    ...(await Promise.all(vendored)),
  ];
}

function textFile(path: string, text: string): ProjectFile {
  return { path, contents: Buffer.from(text), mode: 0o666 };
}
