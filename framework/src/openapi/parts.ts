import type { Components } from "./components.js";
import type { OperationIds } from "./operation-ids.js";
import type { SecuritySchemes } from "./security.js";

/** What the operations of one document share. */
export interface Parts {
  readonly components: Components;
  readonly ids: OperationIds;
  readonly schemes: SecuritySchemes;
}
