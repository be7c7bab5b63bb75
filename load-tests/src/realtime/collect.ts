/** Loaded before each server: SIGUSR2 collects its garbage, so that its memory is read without it. @module */
process.on("SIGUSR2", () => globalThis.gc?.());
