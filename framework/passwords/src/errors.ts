/**
 * Passwords: `@tsgi/passwords`.
 *
 * These errors are thrown when the first password is hashed or verified. See [security.md](security.md).
 * @module
 */
import { errorsOf } from "tsgi/internals";

const MESSAGES = {
  /** You use `Passwords` of `@tsgi/passwords`, but its peer dependency `argon2` is not installed. */
  TSGI_MISSING_ARGON2: "Passwords requires the package argon2, which cannot be loaded. Run: npm install argon2@0.44",
};

/** Makes an error of this package. */
export const passwordsError = errorsOf(MESSAGES);
