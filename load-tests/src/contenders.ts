/** The programs that a section compares. @module */

/** A contender's name in tables, and the module that has it. */
export type Contenders = Readonly<Record<string, URL>>;

/** The module of a contender. @throws TypeError when there is none of that name; the message lists them. */
export function contenderModule(name: string, contenders: Contenders): URL {
  const module = contenders[name];
  if (module === undefined) {
    throw new TypeError(`Expected one of ${Object.keys(contenders).join(", ")}, not ${JSON.stringify(name)}.`);
  }
  return module;
}
