/** rou3's compiled router. @module */
import { addRoute, createRouter as createRadixRouter } from "rou3";
import { compileRouter } from "rou3/compiler";

export function createRouter(routes) {
  const router = createRadixRouter();
  for (const { method, colonPath, handler } of routes) addRoute(router, method, colonPath, handler);
  return {
    lookup: compileRouter(router),
    read: ({ data, params }) => ({ handler: data, params: params ?? {} }),
  };
}
