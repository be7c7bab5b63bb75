/**
 * The statements about an application that is deployed: bundled into one file, compiled into an executable, or on a platform.
 * The application is `app/app.mjs`. Every statement is checked over HTTP at the address of a {@link Subject}.
 */
import { bodies } from "./_body-statements.js";
import { requests } from "./_request-statements.js";
import { responses } from "./_response-statements.js";
import type { Statement } from "./_statement.js";
import { streams } from "./_stream-statements.js";

export * from "./_statement.js";

export const statements: readonly Statement[] = [...requests, ...bodies, ...responses, ...streams];
