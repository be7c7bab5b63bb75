/** The benchmark routes on Express with `cors`, `helmet` and `morgan`. @module */
import cors from "cors";
import express from "express";
import helmet from "helmet";
import morgan from "morgan";
import { announce } from "../http/announce.js";
import { addRoutes } from "../http/express-routes.js";
import { createId, ORIGIN, sink } from "./parts.js";

const app = express();
app.use(morgan("combined", { stream: sink }));
app.use((_request, response, next) => {
  response.setHeader("x-request-id", createId());
  next();
});
app.use(helmet(), cors({ origin: [ORIGIN] }));
addRoutes(app);

const server = app.listen(0, "127.0.0.1", () => announce(server.address().port));
