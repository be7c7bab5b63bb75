import { builtinModules } from "node:module";

/** npm's limit for the length of a package name, the scope included. */
const maxLength = 214;

const wholeName = /^(?:@(?<scope>[^/]+)\/)?(?<base>[^/]+)$/;
const allowedPart = /^[a-z0-9-][a-z0-9._-]*$/;

/** A name as it may stand in a message: quoted, control characters escaped, cut after 40 characters. */
export function quoteName(name: string): string {
  return JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name);
}

/**
 * Says what keeps a text from being the name of a new npm package, or `null` when nothing does.
 *
 * The rule is npm's own for new packages, and a little stricter: of the characters it allows, only those that need no
 * quoting in a shell.
 * @see https://docs.npmjs.com/cli/v11/configuring-npm/package-json#name
 */
export function findNameFault(name: string): string | null {
  if (name === "") {
    return "the name is empty";
  }
  if (name.length > maxLength) {
    return `${quoteName(name)} has ${name.length} characters, an npm name at most ${maxLength}`;
  }
  const parts = wholeName.exec(name)?.groups;
  if (!parts) {
    return `${quoteName(name)} is a path, not an npm name (--into chooses the folder to create it in)`;
  }
  const names = [parts["scope"], parts["base"]].filter((part) => part !== undefined);
  if (names.some((part) => /^[._]/.test(part))) {
    return `${quoteName(name)} is no npm name: it starts with a dot or an underscore`;
  }
  if (name !== name.toLowerCase()) {
    return `${quoteName(name)} is no npm name: it has capital letters`;
  }
  if (!names.every((part) => allowedPart.test(part))) {
    return `${quoteName(name)} is no npm name: only a-z, 0-9, "-", "." and "_" may stand in one`;
  }
  if (names.some((part) => part.startsWith("-"))) {
    return `${quoteName(name)} would read as a flag`;
  }
  if (name === "node_modules" || name === "favicon.ico" || builtinModules.includes(name)) {
    return `${quoteName(name)} is a name that npm keeps back`;
  }
  return null;
}

/** The folder that a project of this name goes into: the name without its scope. */
export function folderOf(name: string): string {
  return name.slice(name.indexOf("/") + 1);
}
