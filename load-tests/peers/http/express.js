/** The benchmark routes on Express. @module */
import express from "express";
import { announce } from "./announce.js";
import { addRoutes } from "./express-routes.js";

const app = express();
addRoutes(app);

const server = app.listen(0, "127.0.0.1", () => announce(server.address().port));
