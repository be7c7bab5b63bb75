/**
 * The timers of the platform, as they are at load: a test may replace the global ones, and a server would wait for them
 * when it closes. A file for Node imports `node:timers` for the same reason. @module
 */
export const { clearTimeout, setImmediate, setTimeout } = globalThis;
