/** One file to write. */
export interface ProjectFile {
  /** Relative to the project's folder, with `/` between the parts. */
  path: string;
  contents: Buffer;
  /** Permission bits before the umask: 0o666 for an ordinary file. */
  mode: number;
  /** A file that belongs to the user once it exists, such as `.env`: `--force` keeps it. */
  isKept?: boolean;
}
