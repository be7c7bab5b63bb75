/** The sections of the page of errors that the package ships. @module */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The page, which the build copies from `docs/` into the package. */
export const ERRORS_PAGE = fileURLToPath(new URL("../assets/errors.md", import.meta.url));

/** The section of one code. */
export interface Explanation {
  readonly code: string;
  /** The title of the section with the code, such as `"Parameters"`. */
  readonly topic: string;
  /** The mistake in one sentence. */
  readonly summary: string;
  /** All of it, as Markdown, without the heading. */
  readonly text: string;
}

/** Each code with its section, in the page's order. Empty if the package does not contain the page. */
export function explanations(): ReadonlyMap<string, Explanation> {
  const page = existsSync(ERRORS_PAGE) ? readFileSync(ERRORS_PAGE, "utf8") : "";
  const found = new Map<string, Explanation>();
  for (const section of page.split(/^## /m).slice(1)) {
    const [topic = "", ...parts] = section.split(/^### /m);
    for (const part of parts) {
      const [code = "", ...lines] = part.split("\n");
      const text = lines.join("\n").trim();
      const summary = (text.split("\n\n")[0] as string).replaceAll("\n", " ");
      found.set(code, { code, topic: (topic.split("\n")[0] as string).trim(), summary, text });
    }
  }
  return found;
}
