/**
 * The automaton made deterministic by the subset construction. A state stands for all states of the nondeterministic one
 * that the segments so far lead to, in order of precedence, so that a lookup never goes back. @module
 */
import {
  cutPath,
  type Find,
  fixedResult,
  type Resolved,
  resultOf,
  type Route,
  PARAM_KEY,
  type RadixNode,
} from "./radix-node.js";

/** A state of the automaton. */
interface NfaState<H, M> {
  readonly id: number;
  readonly statics: ReadonlyMap<string, NfaState<H, M>>;
  readonly param: NfaState<H, M> | null;
  /** The route with parameters that a path matches which ends here. */
  readonly route: Route<H, M> | null;
}

/** The routes of one method. */
interface MethodRoutes<H, M> {
  /**
   * Results of those without parameters by their whole path. Static takes precedence over parameters, so no other state
   * can match.
   */
  readonly fixed: ReadonlyMap<string, Resolved<H, M>>;
  /** Those with parameters, in order of precedence. */
  readonly open: readonly Route<H, M>[];
  /** The first state; `null` without a route with parameters. */
  readonly start: NfaState<H, M> | null;
}

/** Reads the routes of one method from the tree, in order of precedence. */
export function readRoutes<H, M>(root: RadixNode<H, M>, method: string): MethodRoutes<H, M> {
  const fixed = new Map<string, Resolved<H, M>>();
  const open: Route<H, M>[] = [];
  let count = 0;

  const visit = (node: RadixNode<H, M>, texts: readonly (string | null)[]): NfaState<H, M> | null => {
    const route = routeAt(node, method, texts);
    const isOpen = route !== null && route.names.length > 0;
    if (isOpen) {
      open.push(route);
    } else if (route !== null) {
      fixed.set(`/${texts.join("/")}`, fixedResult(route.handler, route.metadata));
    }
    const statics = new Map<string, NfaState<H, M>>();
    for (const [text, child] of node.children) {
      const state = text === PARAM_KEY ? null : visit(child, [...texts, text]);
      if (state !== null) statics.set(text, state);
    }
    const param = node.paramChild === undefined ? null : visit(node.paramChild, [...texts, null]);
    if (!isOpen && param === null && statics.size === 0) return null;
    return { id: count++, statics, param, route: isOpen ? route : null };
  };

  const start = visit(root, []);
  return { fixed, open, start };
}

function routeAt<H, M>(node: RadixNode<H, M>, method: string, texts: readonly (string | null)[]): Route<H, M> | null {
  const entry = node.handlers.get(method);
  if (entry === undefined) return null;
  return {
    handler: entry[0],
    metadata: entry[1],
    texts,
    names: node.names.get(method) ?? [],
    positions: texts.flatMap((text, index) => (text === null ? [index] : [])),
  };
}

/**
 * Work that the construction may take for each segment of a method's patterns: each member of a state is one unit, and so
 * is a comparison of two members. Ordinary route sets need one or two, and one that is built to explode, 24 routes of 24
 * segments, is given up after 4 ms.
 */
export const WORK_PER_SEGMENT = 8;

/** A state of the deterministic automaton. */
export interface DfaState<H, M> {
  /** The next state by the segment's text. */
  readonly statics: Map<string, DfaState<H, M>>;
  /** The next state for any other non-empty segment. */
  param: DfaState<H, M> | null;
  /** The route of a path that ends here. */
  readonly route: Route<H, M> | null;
}

/**
 * Makes an automaton deterministic.
 *
 * @param bound - The most work that this may take.
 * @returns The first state, or `null` past the bound.
 */
export function determinize<H, M>(start: NfaState<H, M>, bound: number): DfaState<H, M> | null {
  const construction = new SubsetConstruction<H, M>(bound, start.id + 1); // The first state is numbered last.
  const first = construction.stateFor([start]);
  return construction.finish() ? first : null;
}

class SubsetConstruction<H, M> {
  readonly #bound: number;
  #work = 0;
  /** The states whose next ones are still to be found. */
  readonly #pending: { state: DfaState<H, M>; members: readonly NfaState<H, M>[] }[] = [];
  readonly #byMembers = new Map<string, DfaState<H, M>>();
  /** Results of `#covers`, by the numbers of both states. */
  readonly #coverage = new Map<number, boolean>();
  readonly #idCount: number;

  constructor(bound: number, idCount: number) {
    this.#bound = bound;
    this.#idCount = idCount;
  }

  /** Finds the next states of all states; `false` past the bound. */
  finish(): boolean {
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      this.#link(next.state, next.members);
      if (this.#work > this.#bound) return false;
    }
    return true;
  }

  /** The state that stands for these members, which are given in order of precedence. */
  stateFor(members: readonly NfaState<H, M>[]): DfaState<H, M> {
    const key = members.map(({ id }) => id).join();
    let state = this.#byMembers.get(key);
    if (state === undefined) {
      state = { statics: new Map(), param: null, route: members.find(({ route }) => route !== null)?.route ?? null };
      this.#work += members.length;
      this.#byMembers.set(key, state);
      this.#pending.push({ state, members });
    }
    return state;
  }

  #link(state: DfaState<H, M>, members: readonly NfaState<H, M>[]): void {
    for (const { statics } of members) {
      for (const text of statics.keys()) {
        if (!state.statics.has(text)) state.statics.set(text, this.stateFor(this.#step(members, text)));
      }
    }
    const others = this.#step(members, null);
    state.param = others.length === 0 ? null : this.stateFor(others);
  }

  /**
   * The next members: of each its static child, then its parameter child. `null` represents a segment that matches no
   * static one. A parameter takes no empty one.
   */
  #step(members: readonly NfaState<H, M>[], text: string | null): NfaState<H, M>[] {
    const next: NfaState<H, M>[] = [];
    for (const { statics, param } of members) {
      const fixed = text === null ? undefined : statics.get(text);
      if (fixed !== undefined) this.#addUncovered(next, fixed);
      if (param !== null && text !== "") this.#addUncovered(next, param);
    }
    return next;
  }

  /** Adds a member, unless an earlier one covers it: then it cannot decide anything. */
  #addUncovered(members: NfaState<H, M>[], state: NfaState<H, M>): void {
    for (const member of members) {
      if (this.#covers(member, state)) return;
    }
    members.push(state);
  }

  /** Tells if each path that matches from `state` matches from `better` too; `false` in doubt. */
  #covers(better: NfaState<H, M>, state: NfaState<H, M>): boolean {
    this.#work++;
    const key = better.id * this.#idCount + state.id;
    let covers = this.#coverage.get(key);
    if (covers === undefined) {
      covers = this.#work <= this.#bound && this.#coversRoute(better, state) && this.#coversStatics(better, state);
      this.#coverage.set(key, covers);
    }
    return covers;
  }

  #coversRoute(better: NfaState<H, M>, state: NfaState<H, M>): boolean {
    if (state.route !== null && better.route === null) return false;
    return state.param === null || (better.param !== null && this.#covers(better.param, state.param));
  }

  #coversStatics(better: NfaState<H, M>, state: NfaState<H, M>): boolean {
    for (const [text, child] of state.statics) {
      const fixed = better.statics.get(text);
      const isCovered =
        (fixed !== undefined && this.#covers(fixed, child)) ||
        (better.param !== null && text !== "" && this.#covers(better.param, child));
      if (!isCovered) return false;
    }
    return true;
  }
}

/** Runs the automaton: the twin of `emitDfa` without generated code. */
export function runDfa<H, M>(first: DfaState<H, M>, maxSegments: number): Find<H, M> {
  return (path) => {
    const segments = cutPath(path, maxSegments);
    if (segments === null) return null;
    let state: DfaState<H, M> | null = first;
    for (const segment of segments) {
      state = state.statics.get(segment) ?? (segment === "" ? null : state.param);
      if (state === null) return null;
    }
    return state.route === null ? null : resultOf(state.route, segments);
  };
}
