/**
 * The same routes as one function from `Request` to `Response`, without any framework. Compared with the frameworks
 * that use these objects, it shows how much of their time the objects themselves take on Node.
 *
 * @module
 */
import { isNewUser } from "../../new-user.js";

/** This module is a fetch handler. */
export const kind = "fetch";

/** The handler. */
export async function handle(request: Request): Promise<Response> {
  const path = request.url.slice(request.url.indexOf("/", "https://".length));
  if (path === "/health" && request.method === "GET") return Response.json({ status: "ok" });
  if (path === "/users" && request.method === "POST") return createUser(request);
  if (path.startsWith("/users/") && request.method === "GET") {
    return Response.json({ id: path.slice("/users/".length) });
  }
  return Response.json({ detail: "Not Found" }, { status: 404 });
}

async function createUser(request: Request): Promise<Response> {
  const user: unknown = await request.json();
  if (isNewUser(user)) {
    return Response.json({ id: 1, name: user.name, email: user.email, age: user.age }, { status: 201 });
  }
  return Response.json({ detail: "Unprocessable Content" }, { status: 422 });
}
