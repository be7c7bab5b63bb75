/** The account of a member: login, session, cookies, and no changes from other sites. @module */
import {
  Cookie,
  type CookieOptions,
  Depends,
  HTTPException,
  JSONResponse,
  RedirectResponse,
  Request,
  Response,
  Router,
  Security,
  t,
} from "tsgi";
import { clearSession, sessionOf, type Store } from "tsgi/middleware";
import { OAuth2PasswordRequestForm } from "tsgi/security";
import { badge, bearer, card, getClerk, getMember, getVisitor, hasTicket, MEMBERS, oauth2 } from "../auth.js";
import { accountSessions, inTime, loginLimit, sameSite } from "../middleware.js";
import { Problem } from "../models.js";
import type { Settings } from "../settings.js";

/** Data of a session. */
interface Basket {
  tools?: string[];
}

const lasting: CookieOptions = { maxAge: 3600, httpOnly: true, sameSite: "strict", path: "/" };

const Token = t.Object({ access_token: t.String(), token_type: t.String({ default: "bearer" }) }, { title: "Token" });
const Given = t.Record(t.String(), t.Unknown());

/** Verifies the password of a member. */
export type VerifyPassword = (name: string, password: string) => Promise<boolean>;

export function createAccount(settings: Settings, verify: VerifyPassword, counts?: Store) {
  const login = new Router({ tags: ["account"] });
  const basket = new Router({
    prefix: "/basket",
    tags: ["account"],
    middleware: [accountSessions(settings), inTime, sameSite(settings)],
  });

  const routes = {
    logIn: login.post(
      "/login",
      {
        params: { form: Depends(OAuth2PasswordRequestForm), response: Response },
        returns: Token,
        responses: { 401: { description: "Wrong name or password.", schema: Problem } },
        middleware: [loginLimit(counts)],
      },
      async ({ form, response }) => {
        const token = `token-of-${form.username}`;
        if (!(await verify(form.username, form.password)) || !MEMBERS.has(token))
          throw new HTTPException(401, "Wrong name or password", { headers: { "WWW-Authenticate": oauth2.challenge } });
        response.setCookie("badge", form.username, lasting);
        return { access_token: token, token_type: "bearer" };
      },
    ),
    logOut: login.post("/logout", { params: { response: Response }, statusCode: 204 }, async ({ response }) => {
      response.deleteCookie("badge");
      return null;
    }),
    oldLogin: login.get("/signin", async () => new RedirectResponse("/v1/login?from=signin", { statusCode: 308 })),

    byOAuth2: login.get(
      "/who/oauth2",
      { params: { member: Security(getMember, { scopes: ["desk"] }) }, returns: Given },
      async ({ member }) => ({ ...member }),
    ),
    byBearer: login.get("/who/bearer", { params: { token: Depends(bearer) }, returns: Given }, async ({ token }) => ({
      ...token,
    })),
    byToken: login.get(
      "/who/token",
      { params: { visitor: Depends(getVisitor) }, returns: Given },
      async ({ visitor }) => ({ ...visitor }),
    ),
    byBasic: login.get(
      "/who/basic",
      { params: { clerk: Depends(getClerk) }, returns: t.String() },
      async ({ clerk }) => clerk,
    ),
    byTicket: login.get(
      "/who/ticket",
      { params: { ticket: Depends(hasTicket), theme: Cookie({ default: "light" }) }, returns: Given },
      async ({ ticket, theme }) => ({ ticket, theme }),
    ),
    byBadge: login.get(
      "/who/badge",
      { params: { badge: Depends(badge) }, returns: t.String() },
      async ({ badge }) => badge,
    ),
    byCard: login.get("/who/card", { params: { card: Depends(card) }, returns: t.Integer() }, async ({ card }) => card),
    byAny: login.get(
      "/who/any",
      { params: { visitor: Depends(getVisitor, { optional: true }), clerk: Depends(getClerk, { optional: true }) } },
      async ({ visitor, clerk }) => ({ visitor: visitor?.name ?? null, clerk }),
    ),

    readBasket: basket.get("", { params: { request: Request } }, async ({ request }) => sessionOf<Basket>(request)),
    fillBasket: basket.post("/{tool}", { params: { request: Request } }, async ({ request, tool }) => {
      const session = sessionOf<Basket>(request);
      session.tools = [...(session.tools ?? []), tool];
      return session;
    }),
    emptyBasket: basket.delete("", { params: { request: Request }, statusCode: 204 }, async ({ request }) =>
      clearSession(request),
    ),
    pay: basket.put("/paid", { params: { request: Request } }, async ({ request }) => {
      return new JSONResponse(
        { paid: sessionOf<Basket>(request).tools?.length ?? 0 },
        { headers: { "x-paid": "yes" } },
      );
    }),
  };
  login.includeRouter(basket);
  return { router: login, ...routes };
}
