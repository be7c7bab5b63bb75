/** The statements on an application that is bundled into one file, in a folder without `node_modules`. */
import { IS_SLOW } from "../support/on-demand.js";
import { bundle, describeForm, rolldown, webpack } from "./_one-file.js";

describeForm({
  name: "esbuild --format=esm --minify",
  make: (home) => bundle(home, { format: "esm", minify: true }, "app.mjs"),
});
describeForm({
  name: "esbuild --format=cjs",
  make: (home) => bundle(home, { format: "cjs" }, "app.cjs"),
});
describeForm({
  name: "esbuild --format=esm",
  make: (home) => bundle(home, { format: "esm" }, "app.mjs"),
  isSkipped: !IS_SLOW,
});
describeForm({
  name: "esbuild --format=cjs --minify",
  make: (home) => bundle(home, { format: "cjs", minify: true }, "app.cjs"),
  isSkipped: !IS_SLOW,
});
describeForm({ name: "rolldown --platform node --no-codeSplitting", make: rolldown, isSkipped: !IS_SLOW });
describeForm({ name: "webpack --target node", make: webpack, isSkipped: !IS_SLOW });
