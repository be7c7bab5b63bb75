/** Requests over HTTP, in slices: the server is in this process, and its client in another one. @module */
import { serve } from "tsgi/node";
import { app } from "../app.js";
import { CLIENT_CORE } from "../cores.js";
import { SliceProcess, type SlicedSection } from "./slice-process.js";
import { quietLogger } from "../http/server-process.js";

/** Starts the server and its client, which checks each route and the validation of bodies. */
export async function prepare(): Promise<SlicedSection> {
  const { url } = await serve(app, { port: 0, logger: quietLogger });
  const client = new SliceProcess(new URL("slice-client.js", import.meta.url), url, CLIENT_CORE);
  const { names, faults } = await client.ready();
  const rows = names.map((name, row) => ({
    name,
    repeat: async (requests: number) => void (await client.slice(row, requests)),
  }));
  return { rows, faults };
}
