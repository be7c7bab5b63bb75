/** The client that the routes of the tool library type. @module */
import { type ApiOf, type Client, type ClientOptions, createClient } from "@tsgi/client";
import type { createAccount } from "./app/routes/account.js";
import type { createBulletins } from "./app/routes/bulletins.js";
import type * as feeds from "./app/routes/feeds.js";
import type * as kiosk from "./app/routes/kiosk.js";
import type * as loans from "./app/routes/loans.js";
import type * as photos from "./app/routes/photos.js";
import type * as reports from "./app/routes/reports.js";
import type * as rooms from "./app/routes/rooms.js";
import type * as tools from "./app/routes/tools.js";

type Account = ReturnType<typeof createAccount>;

export type Api = ApiOf<typeof tools, "/v1"> &
  ApiOf<typeof loans, "/v1"> &
  ApiOf<typeof photos, "/v1"> &
  ApiOf<typeof feeds, "/v1"> &
  ApiOf<typeof reports, "/v1"> &
  ApiOf<typeof kiosk, "/v1"> &
  ApiOf<typeof rooms, "/v1"> &
  ApiOf<ReturnType<typeof createBulletins>, "/v1"> &
  ApiOf<Account, "/v1">;

export type LibraryClient = Client<Api>;

export const createLibraryClient = (options: ClientOptions): LibraryClient => createClient<Api>(options);
