import { type ApiOf, createClient } from "@tsgi/client";
import type * as items0 from "./items0.js";

type Api =
  & ApiOf<typeof items0>
  & unknown;

export const client = createClient<Api>({ baseUrl: "http://127.0.0.1:8000" });
