/**
 * TypeBox's builder. The build puts a bundle of it in place of what this file compiles to (`scripts/typebox.js`), because
 * Node loads its 266 files in 85 ms and the bundle in 8. Schemas of another copy of TypeBox are the same: what tells
 * them, such as `Symbol.for("TypeBox.Kind")`, is shared by all.
 */
export { Type } from "@sinclair/typebox";
