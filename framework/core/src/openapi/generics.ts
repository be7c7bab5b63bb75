/** A struct that is listed under a title. */
interface Titled {
  /** The name that it asks for. */
  base: string;
  /** The components that it refers to, by the names that they ask for. */
  readonly parts: ReadonlySet<string>;
}

/**
 * Names structs with one title after their parts, where one part sets each apart from the others: the `Page` of users and
 * that of items are `UserPage` and `ItemPage`. What a function makes of other schemas has one title for all.
 *
 * @param group - Different structs that ask for the same name.
 */
export function nameGenerics(group: readonly Titled[]): void {
  const [first, ...others] = group;
  const shared = [...(first?.parts ?? [])].filter((part) => others.every(({ parts }) => parts.has(part)));
  const own = group.map(({ parts }) => [...parts].filter((part) => !shared.includes(part)));
  if (!own.every((parts) => parts.length === 1)) return;
  for (const [index, titled] of group.entries()) titled.base = `${own[index]?.[0]}${titled.base}`;
}
