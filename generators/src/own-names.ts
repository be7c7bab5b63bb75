import { folderOf } from "./project-name.js";

/** What the templates are called in their own files, a test apart that reads files of the repository. */
const titles =
  /Sample application|Belongings|(?<=\bnew App\(\{\s*title: ")Items(?=")|(?<=["'])sample-auth-app(?=-?["'])/g;

/** Whether a file of a template can name it. */
export const isNamed = (path: string): boolean => /\.(?:html|js|ts)$/.test(path);

/**
 * Gives a file of a template the name of the project: the title of the document and of the page, and what a database shows
 * of its clients. It is an npm name: none of its characters needs an escape in TypeScript or HTML.
 */
export function nameAfterProject(text: string, name: string): string {
  return text.replaceAll(titles, folderOf(name));
}
