import type { CommandOptions, TemplateName } from "./options.js";
import { templateNames } from "./options.js";

/** Everything that a person can be asked for. */
export interface Answers {
  name: string;
  template: TemplateName;
  git: boolean;
  install: boolean;
}

/** What is taken where no flag and nobody at a terminal says otherwise. */
export const defaultAnswers: Readonly<Answers> = {
  name: "my-app",
  template: templateNames[0],
  git: true,
  install: true,
};

/** What the flags have settled already. */
export function answersOf({ name, template, git, install }: CommandOptions): Partial<Answers> {
  return Object.fromEntries(
    Object.entries({ name, template, git, install }).filter(([, answer]) => answer !== undefined),
  );
}

/** The defaults that fill the gaps, as a line to print, or `null` when there is no gap. */
export function describeDefaults(given: Partial<Answers>): string | null {
  const words = Object.entries(defaultAnswers)
    .filter(([key]) => !(key in given))
    .map(([key, value]) => `${key} ${typeof value === "boolean" ? (value ? "yes" : "no") : value}`);
  return words.length === 0 ? null : `Not asked, so the defaults are taken: ${words.join(", ")}.`;
}
