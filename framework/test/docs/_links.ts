/** The links between pages. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

import { REPOSITORY } from "./_project.js";

/** The links of pages, each as `page: link`, that lead to no file or no heading. Links to other hosts are ignored. */
export function findBrokenLinks(pages: readonly string[]): string[] {
  return pages.flatMap((page) => {
    const file = path.join(REPOSITORY, page);
    const text = readFileSync(file, "utf8").replaceAll(/^```.*?^```/gms, "");
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] as string);
    return links.filter((link) => !leads(link, file)).map((link) => `${page}: ${link}`);
  });
}

function leads(link: string, from: string): boolean {
  if (/^[a-z]+:/.test(link)) return true;
  const [name, heading] = link.split("#") as [string, string?];
  const file = name === "" ? from : path.resolve(path.dirname(from), decodeURIComponent(name));
  if (!existsSync(file)) return false;
  return heading === undefined || anchorsOf(readFileSync(file, "utf8")).has(heading);
}

/** The anchors that headings get: lower case, spaces as hyphens, no other punctuation. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map((match) => match[1] as string);
  return new Set(
    headings.map((heading) =>
      heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}
