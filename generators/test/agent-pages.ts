/** The pages for agents in a project. */
export const PAGES = ["AGENTS.md", ".agents/skills/tsgi/SKILL.md"] as const;

export interface Block {
  readonly language: string;
  /** The file that the block stands for; empty for commands. */
  readonly file: string;
  readonly code: string;
}

export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w+)(?: \[([^\]\n]+)\])?\n(.*?)^```$/gms)].map(
    ([, language = "", file = "", code = ""]) => ({
      language,
      file,
      code,
    }),
  );
}
