/** What a match has heard: everything but users' orders that decides its prices, in its own order, for the journal. */
import type { InstrumentId } from '../kernel/ids.ts'
import type { TradingRules } from '../kernel/limits.ts'
import type { Instant } from '../kernel/world.ts'
import type { Decision, Entry } from './entry.ts'
import type { SystemCommand } from './messages.ts'
import { isSameModel, type PriceRules } from './rule-change.ts'
import type { Heard, HeardAfter, InstrumentHistory } from './store.ts'

interface Terms extends PriceRules {
  readonly at: Instant
  readonly histories: ReadonlyMap<InstrumentId, InstrumentHistory>
}

/** Tells the journal what each commit of one owner has heard. */
export class Hearing {
  /** The rules that the journal named last; null before the first commit. */
  #named: PriceRules | null = null

  /** What a batch has heard. Messages without an effect are left out: the match is as if they had not come. */
  of(batch: readonly Entry[], decisions: ReadonlyMap<Entry, Decision>, terms: Terms): readonly HeardAfter[] {
    const { at, rules, model, histories } = terms
    const heard: HeardAfter[] = []
    if (this.#named === null || !isSame(this.#named, terms)) {
      heard.push({ after: 0, heard: { kind: 'rules', at, rules, model } })
    }
    for (const entry of batch) {
      if (entry.userId !== null) continue
      const { command } = entry
      const decision = decisions.get(entry)
      if (decision?.kind !== 'proceeded' || !decision.effect) continue
      const one = heardOf(command, at, histories)
      if (one !== null) heard.push({ after: decision.after, heard: one })
    }
    return heard
  }

  /** A batch that these terms were heard with is committed. */
  committed({ rules, model }: PriceRules): void {
    this.#named = { rules, model }
  }
}

function heardOf(command: SystemCommand, at: Instant, histories: Terms['histories']): Heard | null {
  if (command.kind === 'feed_update') return { kind: 'update', at, update: command, histories }
  if (command.kind === 'end_match') return { kind: 'end', at, ending: command.ending }
  return command.kind === 'clock' ? { kind: 'clock', at } : null
}

/** Rules are replaced as a whole, so they rarely have to be compared in full. */
const isSame = (a: PriceRules, b: PriceRules): boolean =>
  (a.rules === b.rules || JSON.stringify(plainRules(a.rules)) === JSON.stringify(plainRules(b.rules))) &&
  isSameModel(a.model, b.model)

/** The rules as plain JSON: the operator's restrictions by the ids of matches and players. */
export const plainRules = ({ modes, ...rules }: TradingRules) => ({
  ...rules,
  modes: {
    platform: modes.platform,
    matches: Object.fromEntries(modes.matches),
    instruments: Object.fromEntries(modes.instruments),
  },
})
