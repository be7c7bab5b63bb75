/** Builds the bundle and packs the packages of projects ahead of the first call. */
import path from "node:path";
import { findTemplates } from "../dist/templates.js";
import { bundleWhereNeeded } from "./bundle.js";

const packageRoot = path.dirname(import.meta.dirname);

await bundleWhereNeeded(packageRoot);
const { packages, generator } = findTemplates(packageRoot).read("minimal");
await packages.get("tsgi")?.tarball?.read();
await generator?.tarball?.read();
