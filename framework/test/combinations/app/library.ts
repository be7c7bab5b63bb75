/** The library itself: its tools, the borrowers, and a journal of events. @module */
import { Depends, type ApplicationOptions, HTTPException, Path, t, withParams, type WithParamsOptions } from "tsgi";
import { type Loan, type NewTool, NOT_FOUND, type Tool } from "./models.js";

const ADDED = new Date("2026-01-02T03:04:05.000Z");

const TOOLS: readonly Tool[] = [
  { id: 1, name: "Drill", kind: "power", tags: ["wood", "metal"], price: 4.5, added: ADDED },
  { id: 2, name: "Saw", kind: "hand", tags: ["wood"], price: null, added: ADDED },
  { id: 3, name: "Ladder", kind: "hand", tags: [], price: 2, added: ADDED },
];

/** A tool that another member has. */
export class BorrowedError extends Error {
  constructor(
    readonly tool: string,
    readonly by: string,
  ) {
    super(`${by} has the ${tool}`);
  }
}

/** A tool that is not lent before it has been repaired. */
export class BrokenError extends BorrowedError {}

export class Library {
  isOpen = true;
  readonly tools = new Map(TOOLS.map((tool) => [tool.id, tool]));
  readonly loans = new Map<number, Loan>();
  readonly #journal = new Map<string, string[]>();
  readonly #waiting = new Set<() => void>();

  /** Restores the initial state. */
  reset(): void {
    this.tools.clear();
    for (const tool of TOOLS) this.tools.set(tool.id, tool);
    this.loans.clear();
    this.#journal.clear();
  }

  add(tool: NewTool): Tool {
    const added = { ...tool, id: this.tools.size + 1, added: ADDED };
    this.tools.set(added.id, added);
    return added;
  }

  lend(tool: Tool, by: string, until: Date): Loan {
    const other = [...this.loans.values()].find((loan) => loan.tool.id === tool.id);
    if (other) throw new BorrowedError(tool.name, other.by);
    if (tool.name === "Ladder") throw new BrokenError(tool.name, "The workshop");
    const loan = { id: this.loans.size + 1, tool, by, until };
    this.loans.set(loan.id, loan);
    return loan;
  }

  /** Writes a line below a key. */
  note(key: string, line: string): void {
    this.#journal.set(key, [...(this.#journal.get(key) ?? []), line]);
    for (const wake of this.#waiting) wake();
  }

  /** The lines below a key, as soon as there are so many. */
  async notes(key: string, count: number): Promise<readonly string[]> {
    for (;;) {
      const lines = this.#journal.get(key) ?? [];
      if (lines.length >= count) return lines;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }
}

export async function* openLibrary() {
  const library = new Library();
  yield library;
  library.isOpen = false;
}

const options: ApplicationOptions<Library> = { scope: "app", check: ({ isOpen }) => isOpen };

/** The library: one for each process. */
export const library = Depends(openLibrary, options);

const missing: WithParamsOptions<typeof NOT_FOUND> = { responses: NOT_FOUND };

/** The tool of the path's `tool_id`. */
export const findTool = withParams(
  { tool_id: Path(t.Integer({ minimum: 1 })), library },
  async ({ tool_id, library }) => {
    const tool = library.tools.get(tool_id);
    if (!tool) throw new HTTPException(404, `There is no tool ${tool_id}`);
    return tool;
  },
  missing,
);

/** A change that is kept as a whole or not at all. */
export const changing = withParams({ library }, async function* ({ library }) {
  const before = new Map(library.tools);
  try {
    yield library;
    library.note("changes", "committed");
  } catch (error) {
    for (const id of library.tools.keys()) if (!before.has(id)) library.tools.delete(id);
    for (const [id, tool] of before) library.tools.set(id, tool);
    library.note("changes", "rolled back");
    throw error;
  }
});
