/** The final check: the match is ended, all users are paid, and every record must follow from what the traders saw. */
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { performance } from 'node:perf_hooks'
import { z } from 'zod'
import { present } from '../../../actors/kernel/assert.ts'
import { MINUTE_MS } from '../../../actors/kernel/world.ts'
import { demand, isLeague } from './account.ts'
import { type SimulatedClient, micros } from './simulated-client.ts'
import { checkConsistency } from './consistency.ts'
import { readTable } from './league.ts'
import type { SimulatedTrader } from './simulated-trader.ts'
import { until } from './until.ts'

const Entry = z
  .looseObject({ userId: z.string(), pnl: micros, trades: z.int() })
  .transform(({ userId, pnl, trades }) => {
    return { userId, pnl, trades }
  })
const Board = z.looseObject({ entries: z.array(Entry) })
const Replays = z.looseObject({ replays: z.array(z.unknown()) })
const Reactions = z.looseObject({ waiting: z.int(), setAside: z.array(z.unknown()) })

type Places = readonly z.output<typeof Entry>[]

const LOOK_MS = 200
const PATIENCE_MS = 2 * MINUTE_MS

export interface Stats {
  readonly positions: number
  readonly places: number
}

/** Throws a Violation when anything is wrong. */
export async function audit(url: string, traders: readonly SimulatedTrader[], admin: SimulatedClient): Promise<Stats> {
  await endReplays(url, admin)
  await checkConsistency(url, traders, admin)
  const open = traders.reduce((sum, { account }) => sum + account.open.size, 0)
  demand(open === 0, () => `${open} positions are open after the end of the match`)
  await untilReacted(url, admin)
  const due = sorted(traders.map(placeOf).filter(({ trades }) => trades > 0))
  await checkTable(url, traders)
  await untilShown(url, admin, due)
  const reply = await admin.ask(url, 'POST', '/api/admin/leaderboard/rebuild-roi', {})
  demand(reply !== 'lost' && reply.status === 200, () => `the boards cannot be rebuilt: ${JSON.stringify(reply)}`)
  const rebuilt = await places(url, admin)
  demand(isDeepStrictEqual(rebuilt, due), () => `rebuilt boards show ${show(rebuilt)} instead of ${show(due)}`)
  const counts = await Promise.all(traders.map((trader) => trader.compareAll(url)))
  return { positions: counts.reduce((sum, count) => sum + count, 0), places: due.length }
}

/** The demo restarts until it is stopped by hand, which may fall between two matches. */
async function endReplays(url: string, admin: SimulatedClient): Promise<void> {
  const late = performance.now() + PATIENCE_MS
  await admin.signIn(url) // ending a match takes a fresh sign-in
  for (let calm = 0; calm < 10; calm++) {
    const reply = await admin.ask(url, 'POST', '/api/admin/gameplay-bot/stop', {})
    const isOver = reply !== 'lost' && reply.status === 200 && Replays.parse(reply.body).replays.length === 0
    if (!isOver) calm = -1
    demand(performance.now() < late, () => `the replay does not end: ${JSON.stringify(reply)}`)
    await pause(LOOK_MS)
  }
}

const untilReacted = (url: string, admin: SimulatedClient): Promise<void> =>
  until(PATIENCE_MS, LOOK_MS, async () => {
    const { waiting, setAside } = await admin.read(url, '/api/admin/reactions', Reactions)
    demand(setAside.length === 0, () => `reactions were set aside: ${JSON.stringify(setAside)}`)
    return waiting === 0 ? null : `${waiting} commits wait for their reactions`
  })

/** The table of the league must equal what the accounts imply. */
async function checkTable(url: string, traders: readonly SimulatedTrader[]): Promise<void> {
  const members = traders.filter(({ league }) => league !== null)
  const table = await readTable(url, present(members[0], 'a member'))
  demand(table.size === members.length, () => `${table.size} places in the table of ${members.length} members`)
  for (const { client, account, league } of members) {
    const [shown, { balance }] = [table.get(client.userId), account.holding(league ?? '')]
    demand(shown === balance, () => `${client.name} is worth ${shown} in the league instead of ${balance}`)
  }
}

/** The board must equal what the accounts imply. */
const untilShown = (url: string, admin: SimulatedClient, due: Places): Promise<void> =>
  until(PATIENCE_MS, LOOK_MS, async () => {
    const shown = await places(url, admin)
    return isDeepStrictEqual(shown, due) ? null : `the boards show ${show(shown)} instead of ${show(due)}`
  })

const places = async (url: string, admin: SimulatedClient): Promise<Places> =>
  sorted((await admin.read(url, '/api/leaderboard/roi/global?limit=500', Board)).entries)

function placeOf({ client, account }: SimulatedTrader): Places[number] {
  // A void position counts nowhere, and what happens in a league counts there only.
  const counted = [...account.closed.values()].filter(({ purse, closedBy }) => closedBy !== 'void' && !isLeague(purse))
  const pnl = counted.reduce((sum, { realizedPnl }) => sum + (realizedPnl ?? 0), 0)
  return { userId: client.userId, pnl, trades: counted.length }
}

const sorted = (all: Places): Places => all.toSorted((a, b) => (a.userId < b.userId ? -1 : 1))
const show = (all: Places): string => JSON.stringify(all)
