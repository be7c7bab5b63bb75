/** `jose.ts` in a bundle, which reports a missing package itself. A CommonJS bundle cannot wait for an import. @module */
export * as jose from "jose";
