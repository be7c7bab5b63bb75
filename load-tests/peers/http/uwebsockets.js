/** The benchmark routes on bare uWebSockets.js, without any framework. @module */
import uws from "uWebSockets.js";
import { announce } from "./announce.js";

const isUser = (user) =>
  typeof user === "object" &&
  user !== null &&
  typeof user.name === "string" &&
  user.name.length > 0 &&
  typeof user.email === "string" &&
  Number.isInteger(user.age) &&
  user.age >= 0;

function answer(response, status, content) {
  response.writeStatus(status).writeHeader("content-type", "application/json").end(JSON.stringify(content));
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

uws
  .App()
  .get("/health", (response) => answer(response, "200 OK", { status: "ok" }))
  .get("/users/:id", (response, request) => answer(response, "200 OK", { id: request.getParameter(0) }))
  .post("/users", (response) => {
    let body = Buffer.alloc(0);
    let gone = false;
    response.onAborted(() => (gone = true));
    response.onData((chunk, isLast) => {
      body = Buffer.concat([body, Buffer.from(chunk)]);
      if (!isLast || gone) return;
      const user = parse(body.toString());
      response.cork(() => {
        if (!isUser(user)) return answer(response, "422 Unprocessable Content", { detail: "Unprocessable Content" });
        const { name, email, age } = user;
        answer(response, "201 Created", { id: 1, name, email, age });
      });
    });
  })
  .any("/*", (response) => answer(response, "404 Not Found", { detail: "Not Found" }))
  .listen("127.0.0.1", 0, (socket) => announce(uws.us_socket_local_port(socket)));
