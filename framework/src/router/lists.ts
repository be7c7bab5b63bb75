import { ConfigurationError } from "../exceptions.js";
import { describe } from "../wording.js";

/** The options that are lists, of an App, a router or a route. */
interface Lists {
  readonly tags?: readonly unknown[];
  readonly dependencies?: readonly unknown[];
  readonly middleware?: readonly unknown[];
}

/**
 * Refuses what is no list: text in the place of one would be taken apart letter by letter.
 *
 * @param where - What has the options, for the message.
 * @throws ConfigurationError naming the option.
 */
export function assertLists({ tags, dependencies, middleware }: Lists, where: string): void {
  for (const [name, list] of Object.entries({ tags, dependencies, middleware })) {
    if (list !== undefined && !Array.isArray(list)) {
      throw new ConfigurationError(`${where}: \`${name}\` should be a list, not ${describe(list)}.`, {
        code: "TSGI_NOT_A_LIST",
      });
    }
  }
  for (const layer of middleware ?? []) {
    if (typeof layer === "function") continue;
    throw new ConfigurationError(
      `${where}: a middleware is a function from app to app, not ${describe(layer)}. ` +
        "Write middleware: [cors({ … })].",
      { code: "TSGI_MIDDLEWARE_NOT_A_FUNCTION" },
    );
  }
}
