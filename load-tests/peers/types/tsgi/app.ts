import { App } from "tsgi";
import { items0 } from "./items0.js";

export const app = new App();
app.includeRouter(items0);
