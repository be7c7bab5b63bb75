/** The package for `import`: if its library is missing, it throws the error that says what to install. @module */
import { missing } from "./missing.js";

await import("jose").catch(missing);

export const { AccessTokens, JWTBearer, protectedResource, RefreshTokens } = await import("./index.js");
