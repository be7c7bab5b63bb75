/** Observation: the seam between an App and what measures, traces or logs its requests. @module */
export { OBSERVED, Observed, observedOf, type ObservedScope, runTasks, stepped } from "./observation/observed.js";
export { observing } from "./observation/observing.js";
export type { Instrumentation, Observation, StepKind } from "./observation/types.js";
