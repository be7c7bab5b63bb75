/**
 * The messages of the compiler: a literal type that says what to write instead. A type parameter has itself in its
 * constraint, `P extends CheckParams<P>`, so that the constraint of a correct value is `unknown`, and that of a mistake
 * is its message.
 * @module
 */
import type { Marker } from "./marker.js";

type AnyFunction = (...args: never) => unknown;
type AnyClass = abstract new (...args: never) => unknown;

/** Classes of the platform by what only their instances have: a program need not know their types. */
type GlobalClass<Instance> = Instance extends { clone(): unknown; redirect: unknown }
  ? "this is the global Request: import { Request } from tsgi"
  : Instance extends { clone(): unknown; ok: unknown }
    ? "this is the global Response: import { Response } from tsgi"
    : Instance extends { binaryType: unknown }
      ? "this is the global WebSocket: import { WebSocket } from tsgi"
      : Instance extends { lastModified: number }
        ? "this is the global File: import { File } from tsgi and write File()"
        : "write Depends(Page) for an object of a class: Depends(Page), not Page";

type FunctionError<Result> =
  Result extends Marker<unknown>
    ? "call the parameter function: Query(), not Query"
    : Result extends { static: unknown }
      ? "call the builder: t.String(), not t.String"
      : "write Depends(getUser) for the result of a function: Depends(getUser), not getUser";

/** The message for a value that is not an annotation. */
export type AnnotationError<A> = A extends StringConstructor
  ? "write t.String(), not String"
  : A extends NumberConstructor
    ? "write t.Number() or t.Integer(), not Number"
    : A extends BooleanConstructor
      ? "write t.Boolean(), not Boolean"
      : A extends DateConstructor
        ? "write t.Date(), not Date"
        : A extends abstract new (...args: never) => infer Instance
          ? GlobalClass<Instance>
          : A extends (...args: never) => infer Result
            ? FunctionError<Result>
            : A extends PromiseLike<unknown>
              ? "write Depends(getUser), not getUser()"
              : A extends object
                ? "write t.Object({ … }) around properties"
                : "a parameter is declared with a schema, a parameter function or a class: t.String(), Query(), Depends(getUser)";

/** The message for a dependency that cannot be called. */
export type DependencyError<C> = C extends AnyFunction
  ? "the function takes arguments: wrap it in withParams({ id: Query() }, ({ id }) => …)"
  : C extends AnyClass
    ? "the constructor takes arguments: declare them with static params = { id: Query() }"
    : "pass the function itself: Depends(getUser), not Depends(getUser())";

/** A second argument, which is never passed: for Express's `res`, the compiler reports that this type has no `send`. */
export interface HandlerTakesOneObject {
  readonly handlerTakesOneObject: never;
}
