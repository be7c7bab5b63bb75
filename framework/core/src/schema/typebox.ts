/** The functions of the schema builder. @module */
export { Type } from "@sinclair/typebox";
