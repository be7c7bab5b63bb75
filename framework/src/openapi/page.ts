import type { Asset } from "./assets.js";
import type { PageLinks } from "./html.js";
import type { PagePolicy } from "./policy.js";

/** A page that shows the document, with the files that it consists of. */
export interface Page {
  readonly assets: readonly Asset[];
  readonly policy: PagePolicy;
  readonly render: (title: string, links: PageLinks) => string;
}
