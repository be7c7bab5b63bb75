/** Every kind of security scheme, and the dependencies that identify the caller by them. @module */
import { type Dependency, Depends, Header, HTTPConnection, HTTPException, Security, t, withParams } from "tsgi";
import {
  APIKeyCookie,
  APIKeyHeader,
  type APIKeyOptions,
  APIKeyQuery,
  compareSecrets,
  HTTPBasic,
  type HTTPBasicCredentials,
  type HTTPBasicOptions,
  HTTPBearer,
  type HTTPAuthorizationCredentials,
  type HTTPBearerOptions,
  OAuth2PasswordBearer,
  type OAuth2PasswordBearerOptions,
  type MakeAuthError,
  type OAuthFlowObject,
  type SchemeOptions,
  type SchemeParts,
  SecurityScheme,
  type SecuritySchemeObject,
  SecurityScopes,
  type WithAuthError,
} from "tsgi/security";
import { library } from "./library.js";

export interface Member {
  readonly name: string;
  readonly scopes: readonly string[];
}

/** Tokens as the login hands them out. */
export const MEMBERS: ReadonlyMap<string, Member> = new Map([
  ["token-of-ada", { name: "ada", scopes: ["tools", "desk"] }],
  ["token-of-bob", { name: "bob", scopes: ["tools"] }],
]);

const scopes: OAuthFlowObject["scopes"] = { tools: "Borrow tools.", desk: "Work at the desk." };
const oauth2Options: OAuth2PasswordBearerOptions<true> = { tokenUrl: "/login", refreshUrl: "/login/refresh", scopes };
const bearerOptions: HTTPBearerOptions<true> = { bearerFormat: "opaque", description: "A token of a **member**." };
const tokenOptions: HTTPBearerOptions<true> = { scheme: "Token", schemeName: "Token" };
const basicOptions: HTTPBasicOptions<true> = { realm: "Desk" };
/** A visitor without a badge should not learn that the route exists. */
const hidden: MakeAuthError = ({ path }) => new HTTPException(404, `There is no ${path}`);
const badgeOptions: WithAuthError<APIKeyOptions<true>> = { name: "badge", autoError: hidden };
const keyOptions: APIKeyOptions<true> = { name: "X-Desk-Key" };

export const oauth2 = new OAuth2PasswordBearer(oauth2Options);
export const bearer = new HTTPBearer(bearerOptions);
export const token = new HTTPBearer(tokenOptions);
export const basic = new HTTPBasic(basicOptions);
export const deskKey = new APIKeyHeader(keyOptions);
export const ticket = new APIKeyQuery({ name: "ticket", autoError: false });
export const badge = new APIKeyCookie(badgeOptions);

/** A card that a reader at the door has read: `Card <number>`. */
export class CardScheme<AutoError extends boolean = true> extends SecurityScheme<number, AutoError> {
  constructor(options: SchemeOptions<AutoError> = {}) {
    const definition: SecuritySchemeObject = { type: "apiKey", in: "header", name: "X-Card" };
    const parts: SchemeParts<number> = {
      defaultName: "Card",
      definition,
      source: Header(t.Array(t.String()), { alias: "X-Card", default: [], includeInSchema: false }),
      parse: (text) => (/^Card \d+$/.test(text) ? Number(text.slice("Card ".length)) : null),
      challenge: "Card",
    };
    super(options, parts);
  }
}

export const card = new CardScheme();

const unknown = (challenge: string) =>
  new HTTPException(401, "Unknown credentials", { headers: { "WWW-Authenticate": challenge } });

/** The member whose token it is, with every scope that the route asks for. */
export const getMember = withParams(
  { token: Depends(oauth2), asked: SecurityScopes },
  async ({ token, asked }): Promise<Member> => {
    const member = MEMBERS.get(token);
    if (!member) throw unknown(oauth2.challenge);
    if (!asked.scopes.every((scope) => member.scopes.includes(scope))) {
      const challenge = `Bearer error="insufficient_scope", scope="${asked.scopeString}"`;
      throw new HTTPException(403, "Not enough permissions", { headers: { "WWW-Authenticate": challenge } });
    }
    return member;
  },
);

/** A member by `Authorization: Token`, for routes that anonymous visitors may call as well. */
export const getVisitor = withParams({ token: Depends(token) }, async ({ token: given }) => memberOf(given, token));

function memberOf(
  { credentials }: HTTPAuthorizationCredentials,
  { challenge }: { readonly challenge: string },
): Member {
  const member = MEMBERS.get(credentials);
  if (!member) throw unknown(challenge);
  return member;
}

/** The person at the desk, by name and password. */
export const getClerk = withParams({ who: Depends(basic) }, async ({ who }: { who: HTTPBasicCredentials }) => {
  if (!compareSecrets(who.password, `password-of-${who.username}`)) throw unknown(basic.challenge);
  return who.username;
});

/** Lets in one of two: a ticket of the machine, or a badge. */
export const hasTicket = withParams({ ticket: Depends(ticket) }, async ({ ticket }) => ticket);

/** Writes who has come: for requests and WebSockets alike. */
export const notesVisit = withParams({ connection: HTTPConnection, library }, async ({ connection, library }) => {
  library.note("visits", `${connection.scope.type} ${connection.path} from ${typeof connection.client?.host}`);
});

/** A guard that asks for scopes. */
export const requires = (...asked: string[]) => Security(getMember, { scopes: asked });

/** The dependencies that a test may replace. */
export const REPLACEABLE: readonly Dependency[] = [getMember, getVisitor, getClerk];
