/** The programs that a section compares. @module */

/** A contender's name in tables, and the module that has it. */
export type Contenders = Readonly<Record<string, URL>>;

/** The module of a framework. @throws TypeError for an unknown name; the message lists the known ones. */
export function contenderModule(name: string, contenders: Contenders): URL {
  const module = contenders[name];
  if (module === undefined) {
    throw new TypeError(`Expected one of ${Object.keys(contenders).join(", ")}, not ${JSON.stringify(name)}.`);
  }
  return module;
}
