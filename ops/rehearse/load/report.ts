/** The result of a load run as plain text: a line a second while it runs, tables at the end. */
import { figure, table } from '../../bench/report.ts'
import type { Books } from './books.ts'
import { limitOf, type Step } from './limit.ts'
import type { Measured, Plan, Second } from './run.ts'
import { type Duration, DURATIONS } from './tally.ts'

export interface Outcome {
  readonly plan: Omit<Plan, 'tokens' | 'instruments'> & { readonly users: number }
  readonly measured: Measured
  readonly books: Books
  /** Empty unless the limit was searched for. */
  readonly steps: readonly Step[]
}

const DURATION_NAMES: Readonly<Record<Duration, string>> = {
  trade: 'trade, order to answer',
  tick: 'tick, decided to received',
  connect: 'connect, to the first message',
  return: 'reconnect, to the first message',
}

export const secondLine = (second: Second, isReady: boolean): string =>
  [
    isReady ? 'playing   ' : 'connecting',
    `${second.connected} sockets`,
    `${figure(second.prices)} prices/s`,
    `${second.trades} trades/s`,
    `p99 ms: tick ${figure(second.tickP99)} trade ${figure(second.tradeP99)}`,
    ...(second.errors === 0 ? [] : [`${second.errors} errors`]),
  ].join(' · ')

export const stepLine = ({ sockets, p99, failures, prices, isFine }: Step): string =>
  `${isFine ? 'fine' : 'too much'}: ${sockets} sockets, tick p99 ${figure(p99)} ms, ${figure(prices)} prices/s, ${failures} errors`

/** The rate per second since all sockets were open. */
export function perSecond({ seconds }: Measured, of: 'prices' | 'trades'): number {
  return seconds.reduce((sum, second) => sum + second[of], 0) / Math.max(1, seconds.length)
}

/** What was wrong, in sentences; empty when all is well. */
export function verdicts({ measured: { tally }, books }: Outcome): string[] {
  const { gaps, accountGaps, damaged, contradictions } = tally.counts
  return [
    ...(gaps > 0 ? [`${gaps} gaps in price sequences`] : []),
    ...(accountGaps > 0 ? [`${accountGaps} gaps in account streams`] : []),
    ...(contradictions > 0 ? [`${contradictions} users were told what their accounts contradict`] : []),
    ...tally.misses,
    ...(damaged > 0 ? [`${damaged} damaged frames`] : []),
    ...(tally.failures > 0 ? [`${tally.failures} errors`] : []),
    ...(books.balanced === false ? ['the ledger does not balance'] : []),
    ...(books.violations.length > 0
      ? [`${books.violations.length} accounts do not add up: ${books.violations[0]}`]
      : []),
  ]
}

function booksLine({ balanced, whole, violations }: Books): string {
  const accounts = `${whole} of ${whole + violations.length} accounts add up to their wallets`
  const ledger =
    balanced === null ? 'ledger not asked (no admin)' : `ledger ${balanced ? 'balances' : 'DOES NOT BALANCE'}`
  return `${accounts}; ${ledger}`
}

export function describe(outcome: Outcome): string {
  const { plan, measured, books, steps } = outcome
  const { tally } = measured
  const { counts } = tally
  const durations = DURATIONS.map((name) => {
    const of = tally.durations[name]
    const percentiles = [50, 99, 99.9].map((percent) => figure(of.percentile(percent)))
    return [DURATION_NAMES[name], figure(of.total), ...percentiles, figure(of.max)]
  })
  const codes = (of: ReadonlyMap<string, number>): string =>
    of.size === 0 ? 'none' : [...of].map(([code, n]) => `${code} ${n}`).join(', ')
  const found = verdicts(outcome)
  const limit = limitOf(steps)
  return [
    `${plan.users} users, ${plan.sockets} sockets, ${plan.seconds} s against ${plan.url}`,
    '',
    table(['ms', 'count', 'p50', 'p99', 'p99.9', 'max'], durations),
    '',
    `prices a second   ${figure(perSecond(measured, 'prices'))} (${counts.prices} in all)`,
    `trades a second   ${figure(perSecond(measured, 'trades'))} (${counts.opened} opened, ${counts.changed} changed, ${counts.closed} closed)`,
    `sockets           ${counts.connections} connected in ${figure(measured.connectingSecs)} s, ${counts.returns} reconnected`,
    `account events    ${counts.accountEvents}`,
    `refused by rules  ${codes(tally.refusals)}`,
    `errors            ${codes(tally.errors)}`,
    `gaps              ${counts.gaps} in prices, ${counts.accountGaps} in accounts, ${counts.damaged} damaged frames`,
    `histories         ${counts.compared} commands compared with the accounts, ${counts.contradictions} contradicted`,
    `books             ${booksLine(books)}`,
    ...(limit === null ? [] : ['', ...steps.map(stepLine), `limit             ${limit} sockets`]),
    '',
    found.length === 0 ? 'all is well' : `NOT WELL: ${found.join('; ')}`,
  ].join('\n')
}
