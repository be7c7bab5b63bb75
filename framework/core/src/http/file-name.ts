/** Names of files in requests. @module */

/** A segment that is not the name of one file below one folder on every system. */
// oxlint-disable-next-line no-control-regex
const UNSAFE = /[/\\\u0000]|^\.{1,2}$/;

/**
 * Attack: on Windows, a name can stand for another one, and so pass a check of names: `.env::$DATA` and `.env.` for
 * `.env`, `GIT~1` for `.git`. `C:` is a drive, and `nul`, with any extension, is a device.
 *
 * @see https://learn.microsoft.com/windows/win32/fileio/naming-a-file
 */
// oxlint-disable-next-line no-control-regex
const UNSAFE_ON_WINDOWS = /[:*?"<>|\u0001-\u001f]|[. ]$|~\d|^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])(?:\.|$)/i;

/** Tells if a segment of a path is the name of one file, and its only name. */
export function isFileName(segment: string, platform: string | undefined = globalThis.process?.platform): boolean {
  return !UNSAFE.test(segment) && !(platform === "win32" && UNSAFE_ON_WINDOWS.test(segment));
}
