import { folderOf } from "./project-name.js";

/** The names of the templates in their files. A test that reads files of the repository is left out. */
const titles =
  /Sample application|Belongings|(?<=\bnew App\(\{\s*title: ")Items(?=")|(?<=["'])sample-auth-app(?=-?["'])/g;

/** True for files that may contain the name of the template. */
export const isNamed = (path: string): boolean => /\.(?:html|js|ts|prisma)$/.test(path);

/**
 * Replaces the template's name with the project's name: the title of the document and of the page, and the application
 * name of database connections. No character of an npm name needs an escape in TypeScript or HTML.
 */
export function nameAfterProject(text: string, name: string): string {
  return text.replaceAll(titles, folderOf(name));
}
