/** Which purse pays for an order: that of the match, or of a league that takes it. A tournament need not be named. */
import type { InstrumentId, LeagueId, UserId } from '../../../../actors/kernel/ids.ts'
import { isCommon, type Purse } from '../../../../actors/kernel/purse.ts'
import { type Answer, answerWith, notFound } from '../../answers.ts'
import { timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'

type PurseDeps = Pick<HttpDeps, 'catalogue' | 'purses'>

export type OrderPurse =
  | { readonly ok: true; readonly league?: LeagueId }
  | { readonly ok: false; readonly answer: Answer<404 | 409> }

/**
 * Checks the purse that an order names. The match decides again: it knows no league, but a user without a wallet in
 * the purse cannot pay.
 */ // G4
export async function purseForOrder(
  { catalogue, purses }: PurseDeps,
  user: UserId,
  { instrumentId, purse: named }: { readonly instrumentId: InstrumentId; readonly purse?: Purse | undefined },
): Promise<OrderPurse> {
  const purse = named ?? (await purses.unnamed(user, instrumentId))
  if (purse === null) return { ok: true }
  const listing = await catalogue.instrument(instrumentId)
  if (listing === null) return { ok: false, answer: notFound('instrument') }
  const { matchId: id, purse: own } = listing.match
  if (isCommon(purse)) return purse === own ? { ok: true } : { ok: false, answer: answerWith('PURSE_MISMATCH') }
  const found = await purses.trading(user, purse, { id, purse: own })
  switch (found.kind) {
    case 'open':
      return { ok: true, league: purse }
    case 'not_member':
      return { ok: false, answer: notFound('league') }
    case 'other_match':
      return { ok: false, answer: answerWith('PURSE_MISMATCH') }
    case 'not_running': {
      const facts = { startsAt: timestamp(found.startsAt), endsAt: timestamp(found.endsAt) }
      return { ok: false, answer: answerWith('LEAGUE_NOT_RUNNING', { facts }) }
    }
  }
}
