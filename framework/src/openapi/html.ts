const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as it may stand in an element or in a quoted attribute. */
export function escapeHTML(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] as string);
}

/** Where a page finds what it needs, relative to itself. */
export interface PageLinks {
  /** The folder of the page's files, without a slash at its end. */
  readonly assets: string;
  /** The document; `null` where it is not published. */
  readonly document: string | null;
}

/** What one page is made of. */
export interface PageParts {
  readonly title: string;
  /** The address of its icon. */
  readonly icon: string;
  /** The names of its style sheets and scripts in the folder of its files. */
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
  /** The `id` of the element that the scripts fill. It carries the addresses of the document and of the folder. */
  readonly root: string;
}

const NOT_PUBLISHED =
  "This application does not publish its OpenAPI document (openapiUrl is null), so there is nothing to list here.";

/** Writes a page. Nothing in it is a script or a style of its own, and what comes from outside is escaped. */
export function renderPage({ title, icon, styles, scripts, root }: PageParts, { assets, document }: PageLinks): string {
  const folder = escapeHTML(assets);
  const links = styles.map((name) => `<link rel="stylesheet" href="${folder}/${name}">\n`).join("");
  const loads = scripts.map((name) => `\n<script src="${folder}/${name}"></script>`).join("");
  const body =
    document === null
      ? `<p>${NOT_PUBLISHED}</p>`
      : `<div id="${root}" data-url="${escapeHTML(document)}" data-assets="${folder}"></div>${loads}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHTML(title)}</title>
<link rel="icon" href="${icon}">
${links}</head>
<body>
${body}
</body>
</html>
`;
}
