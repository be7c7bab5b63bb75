/**
 * The catalog of this package's configuration errors: codes, messages, and comments with the text of `docs/errors.md`
 * (`node framework/scripts/errors-page.js` writes that page). A code identifies one error, even if its message changes;
 * it keeps its meaning, and is removed only in a major version. @module
 */
import { DEPENDENCIES } from "./error-codes/dependencies.js";
import { FILES } from "./error-codes/files.js";
import { MIDDLEWARE } from "./error-codes/middleware.js";
import { OPENAPI } from "./error-codes/openapi.js";
import { PARAMETERS } from "./error-codes/parameters.js";
import { POOLS } from "./error-codes/pools.js";
import { ROUTES } from "./error-codes/routes.js";
import { SCHEMAS } from "./error-codes/schemas.js";
import { SECURITY } from "./error-codes/security.js";
import { show } from "./messages.js";
import type { SERVER_START } from "./error-codes/servers.js";

const createMessages = () => ({
  ...ROUTES,
  ...PARAMETERS,
  ...SCHEMAS,
  ...DEPENDENCIES,
  ...POOLS,
  ...MIDDLEWARE,
  ...SECURITY,
  ...OPENAPI,
  ...FILES,
});

type Messages = ReturnType<typeof createMessages>;

let messages: Partial<Messages> = {};

const loadMessages = (): void => {
  messages = createMessages();
};

// In a bundle for the web this variable is `process.env.NODE_ENV`, which a bundler replaces: a bundle for production leaves the
// messages out, which are a tenth of it. `try`, as a platform may have no `process`.
try {
  if (process.env["TSGI_MESSAGES"] !== "production") loadMessages();
} catch {
  loadMessages();
}

/** A message, or a function that makes it of the facts of one case. */
type Message = string | ((...facts: never) => string);

/**
 * Messages by code. A code with several messages has a dot and a word after it for each: `TSGI_INVALID_METHOD.list`.
 */
export type Catalogue = Readonly<Record<string, Message>>;

/** The codes of a catalogue. */
export type CodeOf<Key> = Key extends `${infer Code}.${string}` ? Code : Key;

/** The facts that a message is made of. */
export type FactsOf<M> = M extends (...facts: infer Facts) => string ? Facts : [];

/** The code of an error in how an application is put together. */
export type ErrorCode = CodeOf<keyof Messages>;

/** Why a server could not start: a system's code, or one in the same style. Others than these are the system's own. */
export type ServerStartCode = CodeOf<keyof typeof SERVER_START>;

/** A message of the catalogue. */
export type MessageKey = keyof Messages;

/** The facts of a message of the catalogue. */
export type Facts<Key extends MessageKey> = FactsOf<Messages[Key]>;

/** Makes a message of a catalogue. */
export function formatMessage<C extends Catalogue, Key extends keyof C>(
  catalogue: C,
  key: Key,
  facts: FactsOf<C[Key]>,
): string {
  const message = catalogue[key] as string | ((...facts: readonly unknown[]) => string);
  return typeof message === "string" ? message : message(...facts);
}

/** Makes a message; without the text of it, one of the facts. */
export function messageOf<Key extends MessageKey>(key: Key, ...facts: Facts<Key>): string {
  if (isLoaded(messages)) return formatMessage(messages, key, facts);
  const code = codeOf(key);
  return `${key}: ${facts.map(show).join(", ")}. Run "npx tsgi explain ${code}" for an explanation.`;
}

function isLoaded(given: Partial<Messages>): given is Messages {
  return "TSGI_INVALID_OPTION" in given;
}

/** The code that a message belongs to. */
export function codeOf<Key extends string>(key: Key): CodeOf<Key> {
  return key.split(".")[0] as CodeOf<Key>;
}
