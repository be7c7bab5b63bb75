/** Declared responses of routes, routers and dependencies, for the OpenAPI document and for clients. @module */
import type { Schema } from "../schema/schema.js";

/** Describes a body in one media type. */
export interface MediaTypeDoc {
  /** The schema of the body. For bytes leave it out, or describe them with `t.String({ format: "binary" })`. */
  schema?: Schema;
  examples?: readonly unknown[];
}

/** A response that the document lists. */
export interface ResponseDoc {
  /** Markdown. Defaults to the status's reason phrase. */
  description?: string;
  /** The schema of its JSON body. */
  schema?: Schema;
  /** Examples of its JSON body. */
  examples?: readonly unknown[];
  /** Bodies in other media types, such as `{ "text/csv": {} }`. */
  content?: Readonly<Record<string, MediaTypeDoc>>;
  headers?: Readonly<Record<string, { description?: string; schema?: Schema }>>;
}

/** Responses by status: one, all that begin with a digit, or every one that is not listed. */
export type ResponseDocs = Readonly<Partial<Record<number | `${1 | 2 | 3 | 4 | 5}XX` | "default", ResponseDoc>>>;
