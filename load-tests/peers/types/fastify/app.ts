import { fastify } from "fastify";
import { items0 } from "./items0.js";

export const app = fastify();
app.register(items0);
