/** A program that imports Fastify and ends. @module */
export { fastify } from "fastify";
