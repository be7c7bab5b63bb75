/**
 * Passwords: `@tsgi/passwords`.
 *
 * Thrown when the first password is hashed or verified. See [security.md](security.md).
 * @module
 */
import { errorsOf } from "tsgi/internals";

const MESSAGES = {
  /** `Passwords` of `@tsgi/passwords` is used, and its peer dependency `argon2` is not installed. */
  TSGI_MISSING_ARGON2: "Passwords requires the package argon2, which cannot be loaded. Run: npm install argon2@0.44",
};

/** Makes an error of this package. */
export const passwordsError = errorsOf(MESSAGES);
