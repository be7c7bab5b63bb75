/** `tsgi doctor`: checks for common mistakes, and tells how to fix them. @module */
import { checkApplication } from "./doctor/application.js";
import {
  checkLoop,
  checkManifest,
  checkNode,
  checkTypeScript,
  checkVariables,
  readEnvironment,
} from "./doctor/environment.js";
import { fault, type Finding } from "./doctor/finding.js";
import { EXIT, showFailure } from "./errors.js";
import { findModule } from "./find-module.js";
import { printLine } from "./output.js";
import { isTypeScript } from "./typescript.js";

const SIGNS = { ok: "✓", note: "!", fault: "✗" } as const;

/** Prints a line for each finding; exit code 1 if one is an error. */
export async function doctor(module: string | undefined): Promise<void> {
  const findings = await examine(module);
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  for (const { mark, subject, text } of findings) {
    printLine(`${SIGNS[mark]} ${subject.padEnd(width)}  ${text}`);
  }
  if (findings.some(({ mark }) => mark === "fault")) process.exitCode = EXIT.failed;
}

async function examine(module: string | undefined): Promise<Finding[]> {
  const findings = [checkNode(), checkLoop(), ...checkManifest(), ...readEnvironment(), ...checkVariables()];
  try {
    const file = findModule(module);
    return [...findings, ...checkTypeScript(isTypeScript(file)), ...(await checkApplication(file))];
  } catch (error) {
    return [...findings, ...checkTypeScript(false), fault("application", showFailure(error))];
  }
}
