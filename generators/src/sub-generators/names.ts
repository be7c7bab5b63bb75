import { UsageError } from "../errors.js";
import { quoteName } from "../project-name.js";

/** Words reserved by JavaScript or a template. */
const reserved = new Set(
  (
    "app await break case catch class const continue debugger default delete do else enum export extends false finally " +
    "for function if implements import in instanceof interface let new null package private protected public return " +
    "static super switch this throw true try typeof var void while with yield arguments eval undefined t request response"
  ).split(" "),
);

/** The spellings of a name. */
export interface Name {
  kebab: string;
  camel: string;
  pascal: string;
}

const plainName = /^[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*$/;

/** A name of several segments. */
export const pathName = /^[A-Za-z][A-Za-z0-9]*(?:[-_/][A-Za-z0-9]+)*$/;

/**
 * Parses the name of new code.
 *
 * @returns its three spellings
 * @throws UsageError for an invalid name
 */
export function readName(text: string, what: string, allowed = plainName): Name {
  if (!allowed.test(text) || text.length > 60) {
    throw new UsageError(
      `${quoteName(text)} is not a name for a ${what}: use letters and digits, with "-" between words`,
    );
  }
  const kebab = kebabOf(text).replaceAll("/", "-");
  const camel = camelOf(kebab);
  if (reserved.has(camel)) {
    throw new UsageError(`${quoteName(text)} is a reserved word: choose another name for the ${what}`);
  }
  return { kebab, camel, pascal: capital(camel) };
}

/** `blogPosts` and `blog_posts` as `blog-posts`. */
export function kebabOf(text: string): string {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
}

/** `orders` as `Orders`. */
export const capital = (text: string): string => text.replace(/^[a-z]/, (letter) => letter.toUpperCase());

/** `get-orders` as `getOrders`. */
export function camelOf(kebab: string): string {
  return kebab.replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

const initialisms = /\b(?:api|csv|faq|html|http|id|ip|json|pdf|qr|sms|sql|ui|uri|url|vat|xml)\b/g;

/** A kebab-case name in the words of a sentence: `api-key` as `API key`. */
export function wordsOf(kebab: string): string {
  return kebab.replaceAll("-", " ").replaceAll(initialisms, (word) => word.toUpperCase());
}

/** The indefinite article, by sound: "an API key", "a URL", "an hour", "a user". */
export function articleOf(words: string): "a" | "an" {
  const [first = ""] = words.split(" ");
  const startsWithVowel =
    first.length > 1 && first === first.toUpperCase()
      ? /^[AEFHILMNORSX]/.test(first)
      : /^(?:[ai]|o(?!nce|ne)|e(?!u)|u(?!ni(?![nm])|s[aeu]|ti)|hour|honou?r|heir)/.test(first);
  return startsWithVowel ? "an" : "a";
}

/** An English plural: `category` as `categories`. */
export function pluralOf(word: string): string {
  if (/(?:s|x|z|ch|sh)$/.test(word)) {
    return `${word}es`;
  }
  return /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`;
}

/**
 * The names of a path's parameters.
 *
 * @throws UsageError for a path that the router would refuse
 */
export function readPathNames(path: string): string[] {
  const segments = path.split("/").slice(1);
  const isWhole = (segment: string) => /^(?:\{[A-Za-z_]\w*\}|[^{}\s*?#"'`\\]*)$/.test(segment);
  if (!path.startsWith("/") || path.length > 200 || !segments.every(isWhole)) {
    throw new UsageError(
      `${quoteName(path)} is not a path: start with "/", and write a parameter as a whole segment, {name}`,
    );
  }
  const names = segments.flatMap((segment) => /^\{(.+)\}$/.exec(segment)?.[1] ?? []);
  if (new Set(names).size < names.length || names.includes("__proto__")) {
    throw new UsageError(`${quoteName(path)} has a duplicate or invalid parameter name`);
  }
  return names;
}

/** A path as part of a file's name: `/orders/{id}` as `orders-id`. */
export function slugOf(path: string): string {
  return (
    path
      .replaceAll(/[^A-Za-z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, "")
      .toLowerCase() || "root"
  );
}
