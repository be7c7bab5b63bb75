/** `@tsgi/login`: login at an identity provider. @module */
export { type LoginDependency, type OIDCLogin, oidcLogin } from "./oidc-login.js";
export type { IDTokenClaims, OIDCLoginOptions } from "./options.js";
