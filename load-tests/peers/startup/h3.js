/** A program that imports h3 and ends. @module */
export { H3, serve } from "h3";
