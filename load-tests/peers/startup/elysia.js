/** A program that imports Elysia and its adapter for Node and ends. @module */
export { node } from "@elysiajs/node";
export { Elysia } from "elysia";
