/**
 * What `trading.protection` costs an opening, and what it costs where it is off. The function that matches without it
 * call is the text of commit-batch.sql without the lines of protection, so off is the plain market.
 */
import { DEFAULT_PROTECTION } from '../../actors/kernel/limits.ts'
import { COMMIT_BATCH, COMMIT_BATCH_PROTECTED } from '../../db/postgres/commit-batch.ts'
import type { BenchDatabase } from './bench-database.ts'
import { actorOpens } from './opens.ts'
import { figure, type Pace, type Section, spreadOf, table, withSpread } from './report.ts'

const UNDER_WAY = 1_000
const MATCHES = 2

type Measured = Awaited<ReturnType<typeof actorOpens>>

export async function benchProtection(database: BenchDatabase, pace: Pace): Promise<Section> {
  const rounds: { readonly off: Measured; readonly on: Measured }[] = []
  for (let round = 0; round < pace.rounds; round++) {
    const opens = (protection: typeof DEFAULT_PROTECTION | null) =>
      actorOpens(database, { outstanding: UNDER_WAY, matches: MATCHES, rules: { protection } }, pace)
    rounds.push({ off: await opens(null), on: await opens(DEFAULT_PROTECTION) })
  }
  const of = (read: (one: Measured) => number) =>
    (['off', 'on'] as const).map((which) => spreadOf(rounds.map((round) => read(round[which]))))
  const [perSecond, node, log] = [
    of(({ perSecond: count }) => count),
    of(({ cost }) => cost.nodeMicros),
    of(({ cost }) => cost.logBytes),
  ]
  const rows = (['off', 'on'] as const).map((which, n) => [
    which,
    ...[perSecond, node, log].map((spreads) => withSpread(spreads[n] ?? spreadOf([]))),
    figure((which === 'off' ? COMMIT_BATCH : COMMIT_BATCH_PROTECTED).statement.length),
  ])
  const ratio = spreadOf(rounds.map(({ off, on }) => on.perSecond / off.perSecond))
  const title = `Openings with ${UNDER_WAY} under way in ${MATCHES} matches, without protection and with it`
  const head = ['protection', 'a second', 'Node, µs each', 'bytes of log each', 'characters of SQL']
  const text = `${title}\n${table(head, rows)}\nOn is ${withSpread(ratio)} of off.`
  return { text, data: { perSecond, node, log, ratio } }
}
