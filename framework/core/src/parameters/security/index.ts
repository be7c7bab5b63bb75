/** `tsgi/security`: dependencies that take credentials out of a request, and that the document lists. @module */
export { APIKeyCookie, APIKeyHeader, type APIKeyOptions, APIKeyQuery } from "./api-key.js";
export { compareSecrets, type HTTPAuthorizationCredentials } from "./credentials.js";
export {
  HTTPBasic,
  type HTTPBasicCredentials,
  type HTTPBasicOptions,
  HTTPBearer,
  type HTTPBearerOptions,
} from "./http.js";
export { OAuth2PasswordBearer, type OAuth2PasswordBearerOptions, OAuth2PasswordRequestForm } from "./oauth2.js";
export {
  type MakeAuthError,
  type OAuthFlowObject,
  type SchemeOptions,
  type SchemeParts,
  SecurityScheme,
  type SecuritySchemeObject,
  type WithAuthError,
} from "./scheme.js";
export { Security } from "../depends.js";
export { SecurityScopes } from "../annotation.js";
