/** Objects made of the members of others. @module */

/** The members of an object that are not `undefined`. A loop, because a document of 1,000 routes asks for 10,000 objects. */
export function defined<Members extends object>(members: Members): Members {
  const kept: Partial<Members> = {};
  for (const name in members) if (members[name] !== undefined) kept[name] = members[name];
  return kept as Members;
}

/** An object with the same names, and each value changed. */
export function mapValues<Value, Result>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value, name: string) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}
