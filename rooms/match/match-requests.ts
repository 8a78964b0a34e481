/** What a match is asked: how its actor answers, how long another process may take, and what no answer means. */
import { COMMAND_DEADLINE_MS } from '../../actors/kernel/limits.ts'
import { type Refusal, refused } from '../../actors/kernel/outcome.ts'
import { instant, SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { MatchActor } from '../../actors/match/actor.ts'
import type { ConsideredSetting, PriceRules } from '../../actors/match/rule-change.ts'
import { type Asked, NOT_HERE, SETTLED, type Unanswered } from '../cluster/peers.ts'
import type { AnswerOf, MatchKind, RequestOf } from '../cluster/protocol.ts'

export interface HandlingOptions {
  readonly world: Pick<World, 'steady'>
  /** The rules that a setting would bring into force; null if it is not valid. */
  readonly rulesWith: (setting: ConsideredSetting) => PriceRules | null
}

interface Handling<K extends MatchKind> {
  /** Undefined: it cannot be answered here. */
  here(
    actor: MatchActor,
    request: RequestOf<K>,
    options: HandlingOptions,
  ): Promise<AnswerOf<K>> | AnswerOf<K> | undefined
  withinMs(request: RequestOf<K>): number
  unanswered(why: Unanswered, request: RequestOf<K>): AnswerOf<K>
}

/** To commit a change of a match; the batch before it may be a large one. */
const COMMIT_MS = 5 * SECOND_MS

const REQUESTS: { readonly [K in MatchKind]: Handling<K> } = {
  command: {
    here: (actor, { command, leftMs }, { world }) => actor.submit(command, instant(world.steady.now() + leftMs)),
    withinMs: ({ leftMs }) => leftMs,
    unanswered: (why, { command }) =>
      refused(
        why === 'silent'
          ? { code: 'unknown_outcome', retryAfterSecs: 1 }
          : refusalOf(why, command.kind === 'open_position' ? 'instrument' : 'position'),
      ),
  },
  quote: {
    here: (actor, { query }) => actor.quote(query),
    withinMs: () => COMMAND_DEADLINE_MS,
    unanswered: (why) => refused(why === 'silent' ? NOT_HERE : refusalOf(why, 'instrument')),
  },
  effect: {
    here: (actor, { setting }, { rulesWith }) => {
      const next = rulesWith(setting)
      return next === null ? undefined : actor.effectOf(next)
    },
    withinMs: () => COMMAND_DEADLINE_MS,
    unanswered: (why, { matchId }) => ({ matchId, known: why === 'settled', moves: [], closes: 0 }),
  },
  end: {
    here: async (actor, { ending }) => ((await actor.end(ending)) ? 'ending' : 'over'),
    withinMs: () => COMMIT_MS,
    // After silence it may have ended: ending it again finds out.
    unanswered: (why) => {
      if (why === 'settled') return 'over'
      return why === 'unknown' ? 'unknown' : 'elsewhere'
    },
  },
  void: {
    here: async (actor, { positionId }) => ((await actor.void(positionId)) ? 'voided' : 'closed'),
    withinMs: () => COMMIT_MS,
    // After silence it may be void: its row tells.
    unanswered: (why) => (why === 'settled' || why === 'unknown' ? 'closed' : 'elsewhere'),
  },
}

export const handling = <K extends MatchKind>(kind: K): Handling<K> => REQUESTS[kind]

/** The answer, or what stands for none. */
export const answerOr = <K extends MatchKind>(kind: K, request: RequestOf<K>, asked: Asked<AnswerOf<K>>): AnswerOf<K> =>
  asked.kind === 'answered' ? asked.answer : handling(kind).unanswered(asked.kind, request)

function refusalOf(why: Exclude<Unanswered, 'silent'>, what: 'instrument' | 'position'): Refusal {
  if (why === 'unknown') return { code: 'not_found', what }
  return why === 'settled' ? { code: 'market_closed', window: SETTLED } : NOT_HERE
}
