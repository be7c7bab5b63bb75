import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Repository } from "../src/repository.js";
import { packageRoot, run, temporaryFolder } from "./support.js";

/** The package as npm packs it, unpacked again: in `package/` of a folder that is removed at the end. */
export async function packedPackage(): Promise<{ path: string; package: string } & AsyncDisposable> {
  const folder = await temporaryFolder();
  // Not with another `npm pack`: it writes into this folder, where other tests do the same.
  const tarball = await Repository.find(packageRoot)?.read("minimal").generator.tarball?.read();
  await writeFile(join(folder.path, "package.tgz"), tarball ?? "");
  const unpacking = await run("tar", ["-xzf", "package.tgz"], { cwd: folder.path });
  if (unpacking.status !== 0) {
    throw new Error(`tar: ${unpacking.stderr}`);
  }
  return {
    path: folder.path,
    package: join(folder.path, "package"),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
