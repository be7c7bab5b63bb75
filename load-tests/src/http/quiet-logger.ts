/** The logger of tsgi's servers: no other server says where it listens. @module */
export const quietLogger = { debug() {}, info() {}, warn: console.warn, error: console.error };
