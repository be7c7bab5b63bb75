/** The benchmark application on tsgi, on the runtime's own server. @module */
import { app } from "../../../load-tests/dist/app.js";
import { serveFetch } from "./serve-fetch.js";

serveFetch(app.fetch);
