/** The struct of `POST /users`, as code without a schema library checks it. @module */

/** A user to create. */
export interface NewUser {
  /** Not empty. */
  readonly name: string;
  readonly email: string;
  /** In whole years, not negative. */
  readonly age: number;
}

/** True if a parsed JSON body has the fields of a new user. Additional fields are allowed. */
export function isNewUser(value: unknown): value is NewUser {
  if (typeof value !== "object" || value === null) return false;
  const { name, email, age }: Partial<Record<keyof NewUser, unknown>> = value;
  return (
    typeof name === "string" &&
    name.length > 0 &&
    typeof email === "string" &&
    typeof age === "number" &&
    Number.isSafeInteger(age) &&
    age >= 0
  );
}
