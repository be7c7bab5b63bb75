/** An I/O loop by its name. Node's is libuv. */
export type LoopName = "libuv" | "uwebsockets";
