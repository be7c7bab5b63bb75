/** The schemas of the library: TypeBox for its own data, Zod and Valibot for two forms that web pages share. @module */
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import {
  type ResponseDocs,
  type Schema,
  type SchemaInput,
  type SchemaOutput,
  sse,
  type StandardSchema,
  type Static,
  t,
  type TSchema,
} from "tsgi";
import * as v from "valibot";
import { z } from "zod";

export const Kind = t.Union([t.Literal("hand"), t.Literal("power")], { $id: "Kind" });

export const NewTool = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: 40, examples: ["Drill"] }),
    kind: Kind,
    tags: t.Array(t.String(), { default: [], maxItems: 5 }),
    price: t.Union([t.Number({ minimum: 0 }), t.Null()], { default: null }),
  },
  { $id: "NewTool" },
);

export const Tool = t.Object(
  {
    id: t.Integer(),
    name: t.String(),
    kind: Kind,
    tags: t.Array(t.String()),
    price: t.Union([t.Number(), t.Null()]),
    added: t.Date(),
  },
  { $id: "Tool", description: "Something to borrow." },
);

export const Borrowed = t.Object(
  { state: t.Literal("borrowed"), by: t.String(), until: t.Date() },
  { $id: "Borrowed" },
);
export const Free = t.Object({ state: t.Literal("free") }, { $id: "Free" });
export const Availability = t.Union([Borrowed, Free], { $id: "Availability" });

export const Loan = t.Object({ id: t.Integer(), tool: Tool, by: t.String(), until: t.Date() }, { $id: "Loan" });

export const Category = t.Recursive((Self) => t.Object({ name: t.String(), parts: t.Array(Self, { default: [] }) }), {
  $id: "Category",
});

export const Problem = t.Object({ detail: t.String(), code: t.Optional(t.String()) }, { $id: "Problem" });

/** A review, as the form of the web page checks it. */
export const Review = z
  .object({
    stars: z.number().int().min(1).max(5),
    text: z.string().trim().max(200).default(""),
    by: z.object({ name: z.string().min(1) }).nullable(),
  })
  .meta({ id: "Review" });

/** A note on a tool. */
export const Note = toStandardJsonSchema(
  v.pipe(
    v.object({ text: v.pipe(v.string(), v.maxLength(100)), pinned: v.optional(v.boolean(), false) }),
    v.title("Note"),
  ),
);

/** A point on the map of the workshop: text on the wire, numbers in handlers. */
export const Place = t
  .Transform(t.String({ pattern: "^\\d+,\\d+$" }))
  .Decode((text) => ({ row: Number(text.split(",")[0]), shelf: Number(text.split(",")[1]) }))
  .Encode(({ row, shelf }) => `${row},${shelf}`);

export const loanEvents = sse({ borrowed: Loan, returned: t.Object({ tool: t.Integer() }), end: t.Null() });

export type Tool = Static<typeof Tool>;
export type Loan = Static<typeof Loan>;
export type NewTool = SchemaOutput<typeof NewTool>;
export type ReviewInput = SchemaInput<typeof Review>;

/** A list with its length, of any schema of TypeBox. */
export const Listed = <Item extends TSchema>(item: Item) =>
  t.Object({ count: t.Integer(), items: t.Array(item) }, { title: "Listed" });

/** The library of a schema, as its pages show it. */
export function vendorOf(schema: Schema): string {
  return "~standard" in schema ? (schema as StandardSchema)["~standard"].vendor : "typebox";
}

/** Errors that many routes share. */
export const NOT_FOUND = { 404: { description: "There is no such thing.", schema: Problem } } satisfies ResponseDocs;
