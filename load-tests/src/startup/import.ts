/** A program that imports the framework and ends. @module */
export { App } from "tsgi";
