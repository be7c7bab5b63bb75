/** A program that imports the framework and its server, and ends. @module */
export { App } from "tsgi";
export { serve } from "tsgi/node";
