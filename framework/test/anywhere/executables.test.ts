/** The statements on an application in an executable, which contains its runtime: 60 to 150 MB, so the tests are slow. */
import { binaryOf } from "../runtimes/_program.js";
import { IS_SLOW } from "../support/on-demand.js";
import { bun, canCompileWithDeno, deno, denoStandIn, describeForm, sea } from "./_one-file.js";

const isSkipped = !IS_SLOW || process.platform !== "linux" || process.arch !== "x64";
// If a machine cannot download the runtime of Deno's executables, another program behaves the same.
const hasDeno = !isSkipped && canCompileWithDeno();

describeForm({ name: "Node's SEA of this Node", make: (home) => sea(home), isSkipped });
describeForm({ name: "Node's SEA of Node 22", make: (home) => sea(home, binaryOf("node22")), isSkipped });
describeForm({ name: "bun build --compile", make: bun, isSkipped });
describeForm({ name: "deno compile", make: deno, isSkipped: !hasDeno });
describeForm({ name: "a program like one of deno compile", make: denoStandIn, isSkipped: isSkipped || hasDeno });
