/** The plain walk of the tree, which every lookup must agree with. @module */
import { decodeSegment, splitPath, type SegmentOptions } from "../../src/protocol/path.js";
import { type RadixNode, createParams, type Resolved } from "../../src/routing/radix-node.js";

/**
 * Looks a path up the way the rules read: at each node first the static child, then, if that led to no handler of the
 * method, the parameter child. It visits up to `2 ** depth` nodes, so requests are never served by it.
 */
export function walk<H, M>(
  root: RadixNode<H, M>,
  method: string,
  path: string,
  options: SegmentOptions = {},
): Resolved<H, M> | null {
  return walkFrom(root, method, splitPath(path, options), 0, []);
}

function walkFrom<H, M>(
  node: RadixNode<H, M>,
  method: string,
  segments: readonly string[],
  depth: number,
  values: readonly string[],
): Resolved<H, M> | null {
  const segment = segments[depth];
  if (segment === undefined) {
    return found(node, method, values);
  }
  const fixed = segment === "*" ? undefined : node.children.get(segment);
  const match = fixed === undefined ? null : walkFrom(fixed, method, segments, depth + 1, values);
  if (match !== null || segment === "" || node.paramChild === undefined) {
    return match;
  }
  return walkFrom(node.paramChild, method, segments, depth + 1, [...values, decodeSegment(segment)]);
}

function found<H, M>(node: RadixNode<H, M>, method: string, values: readonly string[]): Resolved<H, M> | null {
  const entry = node.handlers.get(method);
  if (entry === undefined) {
    return null;
  }
  const names = node.names.get(method) ?? [];
  const params = createParams(names);
  names.forEach((name, index) => {
    params[name] = values[index]!; // One value for each parameter node on the way here.
  });
  return [entry[0], params, entry[1]];
}
