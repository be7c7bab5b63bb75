/** A key for only the tests, of the minimum size for production. */
export const SECRET_KEY = "a-key-of-exactly-32-bytes-length";

/** Fast parameters for tests; the real ones have a separate test. */
export const CHEAP = { memoryKiB: 64, passes: 2, lanes: 1 };

/** The password of every user that a test registers. */
export const PASSWORD = "correct horse";
