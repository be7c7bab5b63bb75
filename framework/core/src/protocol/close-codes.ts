/** The close codes of WebSockets that a server sends by itself. @module */

/** RFC 6455 §7.4.1 and its registry. */
export const CLOSE = {
  normal: 1000,
  protocolError: 1002,
  noStatus: 1005,
  abnormal: 1006,
  invalidText: 1007,
  policyViolation: 1008,
  tooBig: 1009,
  error: 1011,
  restart: 1012,
} as const;
