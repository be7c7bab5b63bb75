/** Serves the application on a port of 127.0.0.1, and prints the address in one line. */
import { serve } from "tsgi/node";
import { createApp } from "./app.mjs";

const { url } = await serve(createApp({ files: process.env.FILES ?? null }), { port: 0 });
process.stdout.write(`${url}\n`);
