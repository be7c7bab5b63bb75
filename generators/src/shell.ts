/** A path quoted for the shell of the platform: on Windows for cmd.exe and PowerShell, which both read double quotes. */
export function quotePath(path: string, platform = process.platform): string {
  if (platform === "win32") {
    return /^[\w.:\\/@+-]+$/.test(path) ? path : `"${path}"`;
  }
  return /^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

/** The command that opens a file in the user's editor. Windows has no variable for it. */
export function editCommand(file: string, platform = process.platform): string {
  return `${platform === "win32" ? "notepad" : "$EDITOR"} ${file}`;
}
