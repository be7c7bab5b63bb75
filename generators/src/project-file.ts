/** One file of the project that is to be written. */
export interface ProjectFile {
  /** Relative to the project's folder, with `/` between the parts. */
  path: string;
  contents: Buffer;
  /** Permission bits before the umask: 0o666 for an ordinary file. */
  mode: number;
  /** A file of the user's own making once it is there, such as `.env`: `--force` leaves an existing one as it is. */
  isKept?: boolean;
}
