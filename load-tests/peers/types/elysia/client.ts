import { treaty } from "@elysiajs/eden";
import type { api } from "./api.js";

export const client = treaty<typeof api>("127.0.0.1:8000");
