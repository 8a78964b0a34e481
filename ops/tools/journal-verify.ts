/**
 * Derives the base prices of matches again from their journals, and compares them with those that were stored:
 *
 *   npm run ops -- journal-verify [match ...]
 *
 * It reads the environment of the server and changes nothing; with the embedded database the server must be stopped.
 * Without arguments it takes every match that has a journal. A match is proven if its journal has no gap, ends with the
 * update that the match accepted last, and gives every stored tick and every current base to the micro. The exit code
 * is 1 if one is not.
 */
import type { Kysely } from 'kysely'
import { type FixtureId } from '../../actors/kernel/ids.ts'
import type { Database } from '../../db/postgres/schema.ts'
import { Journal } from '../../db/journal.ts'
import { Rederivation } from '../verify/rederive.ts'
import { checkMatches } from './on-database.ts'

/** The causes of ticks that only an update or a change of rules leaves. Others may lie between two of these. */
const DERIVED: ReadonlySet<string> = new Set(['match', 'event', 'rules'])

await checkMatches('journal', check)

async function check(db: Kysely<Database>, matchId: FixtureId): Promise<string> {
  const again = new Rederivation(matchId)
  /** By player: the bases in the order of time. */
  const moves = new Map<string, { readonly at: number; readonly base: number }[]>()
  let [updates, from, to] = [0, Infinity, 0]
  const done = (ticks: number, flaw: string | null) =>
    `${updates} updates, ${ticks} ticks, ${flaw === null ? 'proven' : `BROKEN: ${flaw}`}`
  try {
    for await (const { epoch, lines } of new Journal(db).read(matchId)) {
      for (const line of lines) {
        if (line.kind === 'update') updates++
        ;[from, to] = [Math.min(from, line.at), Math.max(to, line.at)]
        for (const { instrumentId, base, at } of again.hear(line, epoch)) {
          const known = moves.get(instrumentId) ?? []
          known.push({ at, base })
          moves.set(instrumentId, known)
        }
      }
    }
  } catch (error) {
    return done(0, error instanceof Error ? error.message : String(error))
  }
  const match = await db.selectFrom('matches').select('info').where('id', '=', matchId).executeTakeFirst()
  const accepted = (match?.info as { feedSeq?: number } | undefined)?.feedSeq
  if (accepted !== again.feedSeq) return done(0, `it ends with update ${again.feedSeq}, the match with ${accepted}`)
  const current = await db
    .selectFrom('instruments')
    .select(['id', 'base_micros'])
    .where('match_id', '=', matchId)
    .execute()
  for (const { id, base_micros: base } of current) {
    const derived = [...again.bases].find(([known]) => known === id)?.[1]
    if (derived !== base) return done(0, `player ${id} has the base ${base}, derived ${derived}`)
  }
  const ticks = await db
    .selectFrom('ticks')
    .select(['instrument_id', 'at', 'base_micros', 'cause'])
    .where('instrument_id', 'in', [...moves.keys()])
    .where('at', '>=', new Date(from))
    .where('at', '<=', new Date(to))
    .execute()
  for (const tick of ticks) {
    const known = moves.get(tick.instrument_id) ?? []
    const at = tick.at.getTime()
    // A price that stands still is stored once a minute, and follows from no entry.
    const isStanding = known.findLast((move) => move.at <= at)?.base === tick.base_micros
    const isKnown = (move: { readonly at: number; readonly base: number }): boolean =>
      move.base === tick.base_micros && (DERIVED.has(tick.cause) ? move.at === at : move.at <= at)
    if (isStanding || known.some(isKnown)) continue
    const where = `${tick.instrument_id} at ${tick.at.toISOString()}`
    return done(
      ticks.length,
      `the ${tick.cause} tick of ${where} has the base ${tick.base_micros}, which is not derived`,
    )
  }
  return done(ticks.length, null)
}
