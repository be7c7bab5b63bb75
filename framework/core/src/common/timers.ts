/**
 * The timers and the clock of the platform, as they are at load: a test may replace the global ones, and would then wait
 * for a server that waits for them. @module
 */
export const { clearInterval, clearTimeout, performance, setImmediate, setInterval, setTimeout } = globalThis;
