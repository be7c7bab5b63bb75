/** The mark of a security scheme, by which dependencies know one without its class. @module */

/** The key under which a security scheme finds its credentials. */
export const FIND_CREDENTIALS: unique symbol = Symbol("findCredentials");

/** Finds the credentials of a request. Gets the arguments of the scheme. */
export interface CredentialsFinder {
  /**
   * Tells if the request has credentials of this kind.
   *
   * @throws HTTPException 401 if it has some that are empty, repeated or malformed.
   */
  (args: object): boolean;
}

/** The finder of a security scheme; `undefined` for another callable. */
export function finderOf(
  callable: object & { readonly [FIND_CREDENTIALS]?: CredentialsFinder },
): CredentialsFinder | undefined {
  return callable[FIND_CREDENTIALS];
}
