import { type Static, t } from "tsgi";

/** A user as the database holds it. It is never sent: responses contain only the properties of `User`. */
export const UserInDB = t.Object(
  { username: t.String(), email: t.String(), hashed_password: t.String(), disabled: t.Boolean({ default: false }) },
  { title: "UserInDB" },
);
export type UserInDB = Static<typeof UserInDB>;

/** A user's row: the guide's `UserInDB`, its key, and the version that access tokens contain. */
export type Account = UserInDB & { id: number; version: number };

/** A user as others may see it. */
export const User = t.Object(
  { username: t.String(), email: t.String(), disabled: t.Boolean({ default: false }) },
  { title: "User" },
);
export type User = Static<typeof User>;

/** The response of a login and a refresh (RFC 6749 §5.1). */
export const TokenResponse = t.Object(
  {
    access_token: t.String(),
    token_type: t.String({ default: "bearer" }),
    scope: t.Optional(t.String({ description: "The scopes of the token, if the login requested scopes." })),
  },
  { title: "TokenResponse" },
);

/**
 * The rule of user names. Upper and lower case are the same: names are stored and looked up in lower case. Not
 * `constructor`, in any case: every object of JavaScript has a property of that name.
 */
export const USERNAME = /^(?![Cc][Oo][Nn][Ss][Tt][Rr][Uu][Cc][Tt][Oo][Rr]$)[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/;

/** A new password. Its characters are checked when it is set. */
const NewPassword = t.String({ minLength: 8, description: "8 to 128 characters of any script" });

export const NewUser = t.Object(
  {
    username: t.String({
      pattern: USERNAME.source,
      description:
        "1 to 64 of the letters a to z, digits and . _ @ + -, a letter or a digit first. Upper and lower case are the " +
        "same, and stored as lower case. `constructor` is not allowed.",
    }),
    email: t.String({ format: "email", maxLength: 254 }),
    password: NewPassword,
  },
  { title: "NewUser" },
);

export const PasswordChange = t.Object(
  { current_password: t.String(), new_password: NewPassword },
  { title: "PasswordChange" },
);

// with items:
export const Item = t.Object({ id: t.Integer(), name: t.String(), owner: t.String() }, { title: "Item" });
export type Item = Static<typeof Item>;

export const NewItem = t.Object(
  // No control characters: they are invisible, and PostgreSQL does not store NUL.
  {
    name: t.String({
      pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]{1,200}$",
      description: "1 to 200 characters",
    }),
  },
  { title: "NewItem" },
);
// end items

const Problem = t.Object({ detail: t.String() }, { title: "Problem" });

/** An error of a route, for the OpenAPI document. */
export const problem = (description: string) => ({ description, schema: Problem });
