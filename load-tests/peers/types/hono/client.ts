import { hc } from "hono/client";
import type { api } from "./api.js";

export const client = hc<typeof api>("http://127.0.0.1:8000");
