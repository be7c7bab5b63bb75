import { toLambda } from "@tsgi/lambda";

import { app } from "./app.js";

/** The function of `template.yaml`. To stream responses, use `toLambdaStream` and a function URL. */
export const handler = toLambda(app);
