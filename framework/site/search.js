/** The search of the site: words that people use for a page count as its text. */

/** On a page of the documentation: `<!-- search: pagination, page size -->`. */
const KEYWORDS = /^<!-- search: (.+) -->$/m;

/** Renders a page for the index, with its keywords as text below its title. */
export const renderForSearch = (source, env, md) => md.render(source.replace(KEYWORDS, "$1"), env);

/** Options of MiniSearch. VitePress writes their functions into the site as text: none may use a name from outside. */
export const miniSearch = {
  options: {
    /** Words without their plural; words that are on every page are left out. */
    processTerm: (term) => {
      const word = term.toLowerCase();
      return /^(?:an?|and|are|as|at|be|by|do|for|from|how|i|in|is|it|my|of|on|or|that|the|to|what|with)$/.test(word)
        ? null
        : word.replace(/(?<=[a-z]{3})(?<!s)s$/, "");
    },
  },
  searchOptions: {
    prefix: (term) => term.length > 2,
    fuzzy: (term) => (term.length > 5 ? 0.15 : false),
    boost: { title: 4, titles: 2, text: 1 },
    /** The reference lists names: pages that explain come before it, and a recipe before them. */
    boostDocument: (id) => (id.includes("reference/") ? 0.3 : /cookbook\/[a-z]/.test(id) ? 1.6 : 1),
  },
};
