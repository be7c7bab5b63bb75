/** Serves the application in a form that is a single file: its log shows where the pool runs. */
import { serve } from "tsgi/node";
import { createApp } from "./app.mjs";

const write = (level) => (_fields, message) => process.stdout.write(`${level} ${message}\n`);
const logger = { debug: () => {}, info: write("INFO"), warn: write("WARN"), error: write("ERROR") };

const app = createApp({ files: process.env.FILES ?? null, logger, pool: { size: 2 } });
app.get("/where/pool", () => process.pid);
app.get("/where/loop", async () => process.pid);

// Not awaited: a CommonJS file cannot.
void serve(app, { port: 0, logger });
