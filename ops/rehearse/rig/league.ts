/** A private league among simulated traders, in which some of their orders are placed. */
import { z } from 'zod'
import { present } from '../../../actors/kernel/assert.ts'
import { Violation } from './account.ts'
import { micros, type SimulatedClient } from './simulated-client.ts'
import type { SimulatedTrader } from './simulated-trader.ts'

/** Few enough for the default limit on joins per address. */
const MEMBERS_MAX = 20
const LASTS_MS = 86_400_000

const League = z.looseObject({ id: z.uuid(), code: z.string() })
const Table = z.looseObject({ entries: z.array(z.looseObject({ userId: z.string(), value: micros })) })

/** The first trader founds a league, and others join it. */
export async function formLeague(url: string, traders: readonly SimulatedTrader[]): Promise<void> {
  const members = traders.slice(0, MEMBERS_MAX)
  const [founder, ...others] = members
  const endsAt = new Date(Date.now() + LASTS_MS).toISOString()
  const wanted = { name: 'Rehearsal', endsAt, matches: 'all' }
  const { id, code } = await change(url, present(founder, 'a trader').client, '/api/leagues', wanted)
  for (const { client } of others) await change(url, client, '/api/leagues/join', { code })
  for (const trader of members) trader.league = id
}

/** Reads the table of the traders' league: what each member's purse is worth, in micros. */
export async function readTable(url: string, member: SimulatedTrader): Promise<ReadonlyMap<string, number>> {
  const path = `/api/leagues/${present(member.league, 'a league')}?limit=${MEMBERS_MAX}`
  const { entries } = await member.client.read(url, path, Table)
  return new Map(entries.map(({ userId, value }) => [userId, value]))
}

async function change(url: string, client: SimulatedClient, path: string, body: unknown) {
  const reply = await client.ask(url, 'POST', path, body)
  if (reply !== 'lost' && reply.status < 300) return League.parse(reply.body)
  throw new Violation(`${client.name}: POST ${path} was answered ${JSON.stringify(reply)}`)
}
