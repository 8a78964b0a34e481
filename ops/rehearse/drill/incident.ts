/** An incident of a drill: it goes wrong, and the operator walks from the sentence on top to the end of it. */
import type { Operator } from './operator.ts'
import type { Stage } from './stage.ts'

export interface Incident {
  readonly name: string
  readonly about: string
  /** Makes it, wakes the operator, and follows the runbook. Throws where page or runbook fail. */
  readonly run: (stage: Stage, operator: Operator) => Promise<void>
  /** The sentence at the end. */
  readonly end: RegExp
}

export const WELL = /^All is well\.$/
