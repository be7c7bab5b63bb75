import type { PathPattern } from "../path-pattern.js";
import type { DocumentedRoute } from "./route.js";

/** `readItem`, `read_item` and `HTTPStatus2` are `read item`, `read item` and `http status2`. */
function wordsOf(name: string): string[] {
  // Most are a word already, and the rules below took a sixth of the time for a document.
  if (/^[a-z0-9]+$/.test(name)) return [name];
  return name
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
}

/** The text with its first letter in upper case. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `user_tree` and `userTree` are `UserTree`. */
export function pascalCase(name: string): string {
  return wordsOf(name).map(capitalize).join("") || "Schema";
}

/** `GET /users/{id}/posts` is `get users by id posts`. */
function wordsOfRoute(method: string, { segments }: PathPattern): string[] {
  const words = segments.flatMap(({ text, isParam }) => (isParam ? ["by", ...wordsOf(text)] : wordsOf(text)));
  return [method.toLowerCase(), ...(words.length > 0 ? words : ["root"])];
}

/** The operation's name by method and path: `getUsersByIdPosts`. It stays as it is whatever else is registered. */
export function operationIdOf(method: string, pattern: PathPattern): string {
  return wordsOfRoute(method, pattern)
    .map((word, index) => (index === 0 ? word : capitalize(word)))
    .join("");
}

/** Names that say nothing about the handler. */
const NO_NAMES = new Set(["", "anonymous", "default", "handler"]);

/** One line: the handler's name in words, or else method and path in words. */
export function summaryOf({ record, pattern }: DocumentedRoute): string {
  const name = record.handler.name.replace(/^bound /, "");
  const words = NO_NAMES.has(name) ? [] : wordsOf(name);
  return capitalize((words.length > 0 ? words : wordsOfRoute(record.method, pattern)).join(" "));
}
