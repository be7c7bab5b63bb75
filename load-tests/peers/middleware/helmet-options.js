/** Options of `helmet` for the security headers that all servers of this section send. @module */
import { SECURITY_HEADERS } from "./parts.js";

export const helmetOptions = {
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'self'"] } },
  referrerPolicy: { policy: SECURITY_HEADERS["referrer-policy"] },
  crossOriginResourcePolicy: false,
  originAgentCluster: false,
  strictTransportSecurity: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
};
