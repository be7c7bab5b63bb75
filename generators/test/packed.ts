import { join } from "node:path";
import { packageRoot, run, temporaryFolder } from "./support.js";

/** The package as npm packs it, unpacked again: in `package/` of a folder that is gone at the end. */
export async function packedPackage(): Promise<{ path: string; package: string } & AsyncDisposable> {
  const folder = await temporaryFolder();
  const packing = await run("npm", ["pack", "--silent", "--pack-destination", folder.path], { cwd: packageRoot });
  const unpacking = await run("tar", ["-xzf", packing.stdout.trim().split("\n").at(-1) ?? ""], { cwd: folder.path });
  if (packing.status !== 0 || unpacking.status !== 0) {
    throw new Error(`npm pack: ${packing.stderr}\ntar: ${unpacking.stderr}`);
  }
  return {
    path: folder.path,
    package: join(folder.path, "package"),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
