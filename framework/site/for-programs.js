/** Files for programs: each page as Markdown, and `llms.txt`, which lists them. */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Code before a sample only for the compiler, and the words of the search. */
const HIDDEN = /^<!--\n```[^]*?^-->\n\n|^<!-- search: .+ -->\n\n/gm;

/** The name of a page on the site. */
export const nameOnSite = (file) => file.replace(/^README\.md$/, "overview.md").replace(/README\.md$/, "index.md");

/** The title of a page, and its first paragraph as one line. */
function introOf(markdown) {
  const [title = "", ...blocks] = markdown.split(/\n\n+/);
  const paragraph = blocks.find((block) => /^[A-Z`[]/.test(block)) ?? "";
  const text = paragraph.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("\n", " ");
  return { title: title.replace(/^# /, ""), text: /^.+?[.:](?= |$)/.exec(text)?.[0].replace(/:$/, ".") ?? text };
}

/**
 * Writes each page as Markdown next to its HTML, `llms.txt` (https://llmstxt.org), and `llms-full.txt`, which has all
 * pages except the reference in one file.
 *
 * @param groups - Those of the sidebar.
 */
export function writeForPrograms({ pages, site, groups, description }) {
  const whole = [];
  const list = [
    `# tsgi\n\n> ${description}\n\nEach page is Markdown. All pages except the reference are in one file: [llms-full.txt](llms-full.txt)`,
  ];
  for (const file of readdirSync(pages, { recursive: true, encoding: "utf8" }).filter(isPage)) {
    const markdown = readFileSync(path.join(pages, file), "utf8").replaceAll(HIDDEN, "");
    writeFileSync(path.join(site, nameOnSite(file)), renameLinks(markdown, path.posix.dirname(file)));
  }
  for (const { text, items } of [...groups.pages, ...groups.recipes, groups.reference]) {
    const lines = items.map(({ link }) => {
      const name = `${link.slice(1)}${link.endsWith("/") ? "index" : ""}.md`;
      const markdown = readFileSync(path.join(site, name), "utf8");
      if (!name.startsWith("reference/")) whole.push(markdown);
      const intro = introOf(markdown);
      return `- [${intro.title}](${name})${name.startsWith("reference/") ? "" : `: ${intro.text}`}`;
    });
    list.push(`## ${text}\n\n${lines.join("\n")}`);
  }
  writeFileSync(path.join(site, "llms.txt"), `${list.join("\n\n")}\n`);
  writeFileSync(path.join(site, "llms-full.txt"), whole.join("\n\n"));
}

/** A link of a page in `folder`, with the name that its target has on the site. One out of the documentation stays. */
export function linkOnSite(link, folder) {
  const target = path.posix.join(folder, link);
  if (target.startsWith("..")) return link;
  return link.replace(/README\.md/, path.posix.basename(nameOnSite(target.replace(/#.*/, ""))));
}

const renameLinks = (markdown, folder) =>
  markdown.replaceAll(/(?<=\]\()[\w./-]*README\.md/g, (link) => linkOnSite(link, folder));

const isPage = (name) => name.endsWith(".md") && !name.startsWith(".vitepress");
