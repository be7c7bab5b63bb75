/** The values of a path. @module */

type Scalar = string | number | boolean | null | undefined;

/** The values of a path by their names. */
export type PathValues = Readonly<Record<string, Scalar | readonly Scalar[]>>;

/**
 * Refuses values that would call another route: without its last segment, `/users/` is `/users`, and a platform removes
 * the segments `.` and `..` (URL Standard, "path state").
 *
 * @throws TypeError
 */
export function assertPathValues(path: string, values: PathValues = {}): void {
  for (const [, name = ""] of path.matchAll(/\{([^{}]+)\}/g)) {
    const value = values[name];
    if (value !== undefined && value !== null && !/^\.{0,2}$/.test(String(value))) continue;
    const shown = value === undefined ? "undefined" : JSON.stringify(value);
    throw new TypeError(`The value of {${name}} in ${path} is ${shown}. It must not be empty, "." or "..".`);
  }
}
