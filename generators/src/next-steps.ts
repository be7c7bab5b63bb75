import { isAbsolute, relative, sep } from "node:path";

/** The state of a project that was just written. */
export interface WrittenProject {
  /** Absolute. */
  folder: string;
  isInstalled: boolean;
}

/** What a person types next in the folder that they are in, with a request that works. */
export function describeNextSteps({ folder, isInstalled }: WrittenProject, currentFolder: string): string {
  const path = relative(currentFolder, folder);
  const isBelow = path !== "" && !isAbsolute(path) && path.split(sep)[0] !== "..";
  const commands = [
    ...(path === "" ? [] : [[`cd ${quote(isBelow ? path : folder)}`, ""]]),
    ...(isInstalled ? [] : [["npm install", ""]]),
    ["npm start", "serves on http://127.0.0.1:8000 and names a demo user"],
    ["npm test", ""],
  ];
  return `
Next:

${commands.map(([command = "", effect = ""]) => `  ${command.padEnd(effect ? 12 : 0)}${effect}`).join("\n")}

While it serves, in another terminal:

  curl -d 'username=demo&password=demo-password' http://127.0.0.1:8000/auth/token
`;
}

/** A path as a POSIX shell reads it back. */
function quote(path: string): string {
  return /^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
