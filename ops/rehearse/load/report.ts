/** The result of a load run as plain text: a line a second while it runs, tables at the end. */
import { figure, table } from '../../bench/report.ts'
import type { Books } from './books.ts'
import { limitOf, type Step } from './limit.ts'
import type { Measured, Plan, Second } from './run.ts'
import { type Duration, DURATIONS, type LoadTally } from './tally.ts'

export interface Outcome {
  /** Whether the server is one that was started for this, whose ledger can be audited. */
  readonly isOwn: boolean
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
const IN_ROOMS = DURATIONS.filter((name) => name !== 'trade')

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
export function verdicts({ isOwn, plan, measured: { tally, rooms }, books }: Outcome): string[] {
  const { contradictions } = tally.counts
  return [
    ...missed(tally),
    ...unheard(plan, tally, rooms),
    ...missed(rooms, ' in match rooms'),
    ...((plan.rooms ?? 0) > 0 && rooms.counts.connections === 0 ? ['no match room was joined'] : []),
    ...(contradictions > 0 ? [`${contradictions} users were told what their accounts contradict`] : []),
    ...(isOwn && books.balanced === null ? ['the ledger was not audited'] : []),
    ...(books.balanced === false ? ['the ledger does not balance'] : []),
    ...(books.violations.length > 0
      ? [`${books.violations.length} accounts do not add up: ${books.violations[0]}`]
      : []),
  ]
}

/** What a plan asks for, when nothing of it came: a server that is silent has no gaps. */
export function unheard(
  { sockets, follow, tradesPerSecond }: Pick<Plan, 'sockets' | 'follow' | 'tradesPerSecond'>,
  ...tallies: readonly LoadTally[]
): string[] {
  return [
    ...(sockets > 0 && follow > 0 && tallies.every(({ counts }) => counts.prices === 0)
      ? ['no socket got a price']
      : []),
    ...(tradesPerSecond > 0 && tallies.every(({ trades }) => trades === 0) ? ['nothing was traded'] : []),
  ]
}

function missed({ counts: { gaps, accountGaps, damaged }, misses, failures }: LoadTally, where = ''): string[] {
  return [
    ...(gaps > 0 ? [`${gaps} gaps in price sequences${where}`] : []),
    ...(accountGaps > 0 ? [`${accountGaps} gaps in account streams${where}`] : []),
    ...misses,
    ...(damaged > 0 ? [`${damaged} damaged frames${where}`] : []),
    ...(failures > 0 ? [`${failures} errors${where}`] : []),
  ]
}

function booksLine({ balanced, whole, violations }: Books): string {
  const accounts = `${whole} of ${whole + violations.length} accounts add up to their wallets`
  const ledger =
    balanced === null
      ? 'ledger not read (no admin, or no answer)'
      : `ledger ${balanced ? 'balances' : 'DOES NOT BALANCE'}`
  return `${accounts}; ${ledger}`
}

function roomsLine({ counts }: LoadTally): string {
  const { connections, returns, prices, states, accountEvents, gaps, accountGaps, damaged } = counts
  const received = `${prices} prices, ${states} states, ${accountEvents} account events`
  return `${connections} joined, ${returns} returned; ${received}; ${gaps + accountGaps} gaps, ${damaged} damaged frames`
}

export function describe(outcome: Outcome): string {
  const { plan, measured, books, steps } = outcome
  const { tally, rooms } = measured
  const { counts } = tally
  const hasRooms = (plan.rooms ?? 0) > 0
  const row = ({ durations }: LoadTally, name: Duration, as = ''): string[] => {
    const of = durations[name]
    const percentiles = [50, 99, 99.9].map((percent) => figure(of.percentile(percent)))
    return [`${as}${DURATION_NAMES[name]}`, figure(of.total), ...percentiles, figure(of.max)]
  }
  const durations = DURATIONS.map((name) => row(tally, name))
  const inRooms = IN_ROOMS.map((name) => row(rooms, name, 'match rooms: '))
  const codes = (of: ReadonlyMap<string, number>): string =>
    of.size === 0 ? 'none' : [...of].map(([code, n]) => `${code} ${n}`).join(', ')
  const found = verdicts(outcome)
  const limit = limitOf(steps)
  return [
    `${plan.users} users, ${plan.sockets} sockets, ${plan.seconds} s against ${plan.url}`,
    '',
    table(['ms', 'count', 'p50', 'p99', 'p99.9', 'max'], hasRooms ? [...durations, ...inRooms] : durations),
    '',
    `prices a second   ${figure(perSecond(measured, 'prices'))} (${counts.prices + rooms.counts.prices} in all)`,
    `trades a second   ${figure(perSecond(measured, 'trades'))} (${counts.opened} opened, ${counts.changed} changed, ${counts.closed} closed)`,
    `sockets           ${counts.connections} connected in ${figure(measured.connectingSecs)} s, ${counts.returns} reconnected`,
    `account events    ${counts.accountEvents}`,
    `refused by rules  ${codes(tally.refusals)}`,
    `errors            ${codes(tally.errors)}`,
    `gaps              ${counts.gaps} in prices, ${counts.accountGaps} in accounts, ${counts.damaged} damaged frames`,
    ...(hasRooms ? [`match rooms       ${roomsLine(rooms)}`, `errors there      ${codes(rooms.errors)}`] : []),
    `histories         ${counts.compared} commands compared with the accounts, ${counts.contradictions} contradicted`,
    `books             ${booksLine(books)}`,
    ...(limit === null ? [] : ['', ...steps.map(stepLine), `limit             ${limit} sockets`]),
    '',
    found.length === 0 ? 'all is well' : `NOT WELL: ${found.join('; ')}`,
  ].join('\n')
}
