/** Copies of this package: each has its own classes, which the others do not know. @module */
import { OWN_URL } from "./installed.js";

/** One copy, loaded once. */
interface Copy {
  readonly url: string | undefined;
}

/** Registered, so that each copy finds the mark of the others. */
const COPY: unique symbol = Symbol.for("tsgi.copy");

const own: Copy = { url: OWN_URL };

interface Marked {
  readonly [COPY]?: Copy;
}

/** Marks a class and its instances with this copy. Call it in a static block. */
export function markCopy({ prototype }: { readonly prototype: object }): void {
  Object.defineProperty(prototype, COPY, { value: own });
}

/** The folder of a copy; of a bundle its file. */
function placeOf({ url }: Copy): string {
  if (url === undefined) return "a bundle";
  const place = url.replace(/\/(?:dist(?:\/web)?\/shared|(?:src|build)\/common)\/[^/]+$/, "");
  return decodeURIComponent(place.replace(/^file:\/\//, ""));
}

/** The places of this copy and of the other one that a class or an object is from; `null` for any other value. */
export function findCopies(value: unknown): readonly [own: string, other: string] | null {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return null;
  const marked: Marked & { readonly prototype?: Marked } = value;
  const copy = marked[COPY] ?? (typeof value === "function" ? marked.prototype?.[COPY] : undefined);
  return copy === undefined || copy === own ? null : [placeOf(own), placeOf(copy)];
}
