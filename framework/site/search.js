/** The search of the site: words that people use for a page count as its text. */

/** On a page of the documentation: `<!-- search: pagination, page size -->`. */
const KEYWORDS = /^<!-- search: (.+) -->$/m;

/** Renders a page for the index, with its keywords as text below its title. */
export const renderForSearch = (source, env, md) => md.render(source.replace(KEYWORDS, "$1"), env);

/**
 * Options of MiniSearch. VitePress writes their functions into the site as text: they cannot use names from outside.
 */
export const miniSearch = {
  options: {
    /** A name such as `TSGI_DUPLICATE_ROUTE` is found by itself and by its parts. */
    tokenize: (text) => {
      const words = text.split(/[^\p{L}\p{N}_]+/u);
      return words.flatMap((word) => (word.includes("_") ? [word, ...word.split("_")] : word));
    },
    /** Words without their plural, except HTTPS; words that are on every page are omitted. */
    processTerm: (term) => {
      const word = term.toLowerCase();
      return /^(?:an?|and|are|as|at|be|by|do|for|from|how|i|in|is|it|my|of|on|or|that|the|to|what|with)$/.test(word)
        ? null
        : word.replace(/(?<=[a-z]{3})(?<!s|^http)s$/, "");
    },
  },
  searchOptions: {
    tokenize: (query) => query.split(/[^\p{L}\p{N}_]+/u),
    prefix: (term) => term.length > 2,
    fuzzy: (term) => (term.length > 5 ? 0.15 : false),
    boost: { title: 4, titles: 2, text: 1 },
    /** The reference and the errors list names: pages that explain come before them, and the head of a recipe first. */
    boostDocument: (id) => {
      if (id.startsWith("/reference/")) return 0.15;
      if (id.startsWith("/errors")) return 0.5;
      return /cookbook\/[a-z]/.test(id) && !id.endsWith("watch-out-for") ? 1.8 : 1;
    },
  },
};
