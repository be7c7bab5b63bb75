/**
 * Writes the location of the source into the manifest of each package: `repository`, `homepage` and `bugs`. npm accepts
 * provenance only for packages with the repository in which they are built.
 *
 *     node framework/scripts/name-repository.js https://github.com/owner/name
 *
 * Without an address it uses `config.repository` in the `package.json` at the root, which the owner fills in.
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { FRAMEWORK, packageFolders, readManifest } from "./packages.js";

const root = path.dirname(FRAMEWORK);
const address = (process.argv[2] ?? readManifest(root).config?.repository ?? "").replace(/\/$/, "");

if (!/^https:\/\/[^/]+\/[^/]+\/[^/]+$/.test(address)) {
  process.stderr.write(
    "The address of the repository is missing: fill in config.repository of package.json, or pass it, such as https://github.com/owner/name\n",
  );
  process.exit(1);
}

for (const folder of [...packageFolders(), path.join(root, "generators")]) {
  const directory = path.relative(root, folder);
  const manifest = {
    ...readManifest(folder),
    homepage: `${address}/tree/main/${directory}#readme`,
    bugs: `${address}/issues`,
    repository: { type: "git", url: `git+${address}.git`, directory },
  };
  writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}
