/** `tsgi doctor`: checks for common mistakes, and tells how to fix them. @module */
import { checkApplication } from "./doctor/application.js";
import { type Check, checkObjects, whileExamining } from "./doctor/dependencies.js";
import {
  checkLoop,
  checkManifest,
  checkNode,
  checkTypeScript,
  checkVariables,
  readEnvironment,
} from "./doctor/environment.js";
import { fault, type Finding } from "./doctor/finding.js";
import type { EnvFiles } from "./env-file.js";
import { EXIT, showFailure } from "./errors.js";
import { findModule } from "./find-module.js";
import type { Terminal } from "./terminal.js";
import { isTypeScript } from "./typescript.js";

const SIGNS = { ok: "✓", note: "!", fault: "✗" } as const;

/** Prints a line for each finding. Returns the exit status, 1 if one is an error. */
export async function doctor(module: string | undefined, envFiles: EnvFiles, terminal: Terminal): Promise<number> {
  const findings = await whileExamining((checks) => examine(module, envFiles, checks));
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  for (const { mark, subject, text } of findings) {
    terminal.printLine(`${SIGNS[mark]} ${subject.padEnd(width)}  ${text}`);
  }
  return findings.some(({ mark }) => mark === "fault") ? EXIT.failed : EXIT.done;
}

async function examine(module: string | undefined, envFiles: EnvFiles, checks: readonly Check[]): Promise<Finding[]> {
  const findings = [checkNode(), checkLoop(), ...checkManifest(), ...readEnvironment(envFiles), ...checkVariables()];
  try {
    const file = findModule(module);
    const application = [...checkTypeScript(isTypeScript(file)), ...(await checkApplication(file))];
    return [...findings, ...application, ...(await checkObjects(checks))];
  } catch (error) {
    return [...findings, ...checkTypeScript(false), fault("application", showFailure(error))];
  }
}
