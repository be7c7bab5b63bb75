/** The benchmark routes on Express. @module */
import { announce } from "./announce.js";
import { addRoutes, createApp } from "./express-routes.js";

const app = createApp();
addRoutes(app);

const server = app.listen(0, "127.0.0.1", () => announce(server.address().port));
