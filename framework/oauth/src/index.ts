/** `@tsgi/oauth`: access tokens (JWT) of an identity provider, or your own. @module */
export { AccessTokens, type AccessTokensOptions } from "./access-tokens.js";
export type { Claims } from "./claims.js";
export { type IssuedTokenOptions, JWTBearer, type JWTBearerOptions, type ProviderTokenOptions } from "./jwt-bearer.js";
export { protectedResource, type ProtectedResourceOptions, type ResourceMetadata } from "./protected-resource.js";
export {
  type IssuedRefreshToken,
  type RefreshSession,
  RefreshTokens,
  type RefreshTokensOptions,
  type RefreshTokenStore,
  type Rotation,
} from "./refresh-tokens.js";
