import { builtinModules } from "node:module";

/** npm's limit for the length of a package name, with its scope. */
const maxLength = 214;

const wholeName = /^(?:@(?<scope>[^/]+)\/)?(?<base>[^/]+)$/;
const allowedPart = /^[a-z0-9-][a-z0-9._-]*$/;

/** A name for messages: quoted, control characters escaped, cut after 40 characters. */
export function quoteName(name: string): string {
  return JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name);
}

/**
 * The reason that a text is not the name of a new npm package, or `null`.
 *
 * The rule of npm for new packages, without the characters that need quotes in a shell.
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
    return `${quoteName(name)} is not an npm name: it starts with a dot or an underscore`;
  }
  if (name !== name.toLowerCase()) {
    return `${quoteName(name)} is not an npm name: it has capital letters`;
  }
  if (!names.every((part) => allowedPart.test(part))) {
    return `${quoteName(name)} is not an npm name: use a-z, 0-9, "-", "." and "_" only`;
  }
  if (names.some((part) => part.startsWith("-"))) {
    return `${quoteName(name)} would read as a flag`;
  }
  if (name === "node_modules" || name === "favicon.ico" || builtinModules.includes(name)) {
    return `${quoteName(name)} is a name that npm keeps back`;
  }
  return null;
}

/** The folder of a project: its name without the scope. */
export function folderOf(name: string): string {
  return name.slice(name.indexOf("/") + 1);
}
