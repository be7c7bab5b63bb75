/** Security schemes: dependencies that take credentials out of a request, and that the document lists. @module */
export { Security, SecurityScopes } from "./params.js";
export { APIKeyCookie, APIKeyHeader, type APIKeyOptions, APIKeyQuery } from "./security/api-key.js";
export { compareSecrets, type HTTPAuthorizationCredentials } from "./security/credentials.js";
export {
  HTTPBasic,
  type HTTPBasicCredentials,
  type HTTPBasicOptions,
  HTTPBearer,
  type HTTPBearerOptions,
} from "./security/http.js";
export { OAuth2PasswordBearer, type OAuth2PasswordBearerOptions } from "./security/oauth2.js";
export { OAuth2PasswordRequestForm } from "./security/password-form.js";
export {
  IS_NAMED,
  type OAuthFlowObject,
  type SchemeOptions,
  type SchemeParts,
  SecurityScheme,
  type SecuritySchemeObject,
} from "./security/scheme.js";
