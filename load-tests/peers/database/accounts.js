/** The login and the listing that all servers share, after those of the sample application. @module */
import { createHash, createSecretKey, randomBytes } from "node:crypto";
import argon2 from "argon2";
import { errors, jwtVerify, SignJWT } from "jose";

const KEY = createSecretKey("a key for measurements, which protects nothing", "utf8");
const ACCESS_SECONDS = 30 * 60;
const REFRESH_SECONDS = 7 * 24 * 60 * 60;
/** The items of an answer. */
const PAGE = 20;

export const COOKIE_NAME = "refresh_token";
export const COOKIE = { maxAge: REFRESH_SECONDS, path: "/auth", httpOnly: true, sameSite: "Strict" };

/** The line of the cookie, for frameworks that have none of their own. */
export const formatCookie = (token) =>
  `${COOKIE_NAME}=${token}; Max-Age=${COOKIE.maxAge}; Path=${COOKIE.path}; HttpOnly; SameSite=${COOKIE.sameSite}`;

/** Gives the tokens of a new session, or `null` for a wrong name or password. */
export async function logIn(db, username, password) {
  const account = await db.findAccount(username);
  if (account === null || !(await argon2.verify(account.passwordHash, password))) return null;
  const refreshToken = randomBytes(32).toString("base64url");
  await db.addSession({
    tokenHash: createHash("sha256").update(refreshToken).digest("hex"),
    accountId: account.id,
    expiresAt: new Date(Date.now() + REFRESH_SECONDS * 1_000),
  });
  const accessToken = await new SignJWT({ sub: username, exp: Math.floor(Date.now() / 1_000) + ACCESS_SECONDS })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(KEY);
  return { refreshToken, answer: { access_token: accessToken, token_type: "bearer" } };
}

/** Gives the account of an access token, or `null`. */
export async function findAccount(db, token) {
  try {
    const { payload } = await jwtVerify(token, KEY, { algorithms: ["HS256"], requiredClaims: ["sub", "exp"] });
    return await db.findAccount(payload.sub);
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

/** The token of an Authorization header, for frameworks that leave it to the handler. */
export const tokenOf = (authorization = "") => /^Bearer (.+)$/i.exec(authorization)?.[1] ?? "";

/** The first page of an account's items. */
export async function listItems(db, { id: ownerId, username }) {
  const items = await db.findItems(ownerId, PAGE);
  return items.map(({ id, name }) => ({ id, name, owner: username }));
}
