/** A program that imports Hono and its server for Node and ends. @module */
export { serve } from "@hono/node-server";
export { Hono } from "hono";
