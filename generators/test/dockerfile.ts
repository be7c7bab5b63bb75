/** Reads the Dockerfile of a project: one instruction per line, without continuations. */
import { dirname, normalize } from "node:path";

/** An instruction, and its words or the members of its JSON array. */
export interface Instruction {
  readonly name: string;
  readonly words: readonly string[];
}

const NAMES = new Set(["CMD", "COPY", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "RUN", "USER", "VOLUME", "WORKDIR"]);

/** The instructions of a Dockerfile. @throws Error for an unknown one, and for a command that is not JSON. */
export function readDockerfile(text: string): Instruction[] {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return lines.map((line) => {
    const [, name = "", rest = ""] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (!NAMES.has(name)) throw new Error(`unknown instruction: ${line}`);
    const command = /(?:^|CMD )(\[.*\])$/.exec(rest)?.[1];
    const words = command === undefined ? rest.split(/\s+/) : (JSON.parse(command) as string[]);
    return { name, words };
  });
}

/** The stages of a Dockerfile: each begins with `FROM`. */
export function stagesOf(instructions: readonly Instruction[]): Instruction[][] {
  const stages: Instruction[][] = [];
  for (const instruction of instructions) {
    if (instruction.name === "FROM") stages.push([]);
    stages.at(-1)?.push(instruction);
  }
  return stages;
}

/** The paths that the `COPY` instructions of a stage read from the project, or from an earlier stage. */
export function copiesOf(stage: readonly Instruction[]): { readonly from: string | null; readonly paths: string[] }[] {
  return stage
    .filter(({ name }) => name === "COPY")
    .map(({ words }) => {
      const from = words[0]?.startsWith("--from=") ? words[0].slice("--from=".length) : null;
      return { from, paths: words.slice(from === null ? 0 : 1, -1).map(normalize) };
    });
}

/** True if a path is a file of a list, or a folder of one. */
export function isIn(files: readonly string[], path: string): boolean {
  return path === "." || files.some((file) => file === path || `${dirname(file)}/`.startsWith(`${path}/`));
}
