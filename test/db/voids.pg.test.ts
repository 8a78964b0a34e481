/** Positions that an operator voids: open, closed, and of matches long over. */
import { sql } from 'kysely'
import { beforeAll, expect, it, vi } from 'vitest'
import type { PositionId, UserId } from '../../actors/kernel/ids.ts'
import { STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { lots, money } from '../../actors/kernel/micros.ts'
import { NEW_CAREER } from '../../actors/community/career.ts'
import type { MatchActor } from '../../actors/match/actor.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { AccountLog } from '../../db/account-log.ts'
import { Inbox } from '../../src/features/notifications/store.ts'
import { PositionVoids } from '../../src/features/integrity/store.ts'
import { Positions } from '../../db/positions.ts'
import { Voids } from '../../src/features/integrity/voids.ts'
import { commandId } from '../../src/http/command-ids.ts'
import { systemWorld } from '../../src/system-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { u } from '../support/fixtures.ts'
import { runningMatch } from '../support/running-match.ts'
import { seasonOn } from '../support/season.ts'

eachDatabase((open) => {
  const clock = { now: Date.UTC(2026, 7, 22, 15) }
  const world = systemWorld(() => clock.now)
  const season = seasonOn(open, world)
  let admin: UserId
  let matches = 89_000

  beforeAll(async () => {
    admin = await season.user('Voiding admin')
  })

  const store = () => new PositionVoids(open().db, season.cache, world)
  /** The desk of one running match, or of none: every other match is over. */
  const voids = (actor: MatchActor | null = null) =>
    new Voids({
      voids: store(),
      desk: { ask: async (_, { positionId: id }) => (actor !== null && (await actor.void(id)) ? 'voided' : 'closed') },
    })
  const request = (positionId: PositionId, over: { commandId?: string | null; reason?: string; by?: UserId } = {}) => ({
    positionId,
    commandId: null,
    by: admin,
    reason: 'seen beside the pitch',
    ...over,
  })
  const balanceOf = async (user: UserId) => (await season.wallets.find(user))?.balance
  const weekOf = async (user: UserId) =>
    (
      await sql<{ closed: number; wins: number; pnl_micros: number; players: string[] }>`
        select closed, wins, pnl_micros, players from week_scores where user_id = ${user}`.execute(open().db)
    ).rows

  it('[C3] an open position is closed at its own opening by its match, and counts nowhere', async () => {
    const [user, other] = [await season.player(), await season.player()]
    const { actor, order } = await runningMatch(open(), world, ++matches)
    const held = await actor.submit(order(user))
    if (!held.ok) throw new Error(held.refusal.code)
    await actor.submit(order(other, { lots: lots(u(40)) }))
    const { id, openPrice } = held.value.position
    expect(await voids(actor).void(request(id))).toMatchObject({
      kind: 'voided',
      done: { pnl: null, shortfall: 0, reason: 'seen beside the pitch' },
    })
    expect(await balanceOf(user)).toBe(STARTING_BALANCE)
    expect((await new Positions(open().db).find(user, id))?.position.close).toMatchObject({
      price: openPrice,
      pnl: 0,
      by: 'void',
      voidReason: 'operator',
      voidNote: 'seen beside the pitch',
    })
    expect([...actor.view.instruments()][0]?.imbalance).toBe(u(40))
    await season.settle()
    expect(await season.careers.find(user)).toEqual(NEW_CAREER)
    const { notifications } = await new Inbox(open().db).list(user, { limit: 9, unreadOnly: false, before: null })
    expect(notifications.find(({ title }) => title === 'Position void')?.body).toContain(
      'Reason: seen beside the pitch',
    )
    await season.booksBalance()
  })

  it('[C4] a closed position of a match that is long over is taken back from everywhere it counted', async () => {
    const user = await season.player()
    const match = await season.match()
    const kept = await match.open(user, { lots: 1 })
    await match.close(kept, 201)
    await season.settle()
    const [before, weekBefore] = [await season.careers.find(user), await weekOf(user)]
    const balance = await balanceOf(user)
    const other = await season.match()
    const won = await other.open(user, { lots: 9 })
    await other.close(won, 219, 'take_profit')
    await other.settle()
    await season.settle()
    expect(await season.careers.find(user)).toMatchObject({ opened: 2, takeProfits: 1, largestLots: u(9) })
    clock.now += 30 * 24 * 3_600_000
    const done = await voids().void(request(won.id))
    expect(done).toMatchObject({ kind: 'voided', userId: user, done: { pnl: u(855), shortfall: 0 } })
    expect(await balanceOf(user)).toBe(balance)
    await season.settle()
    expect(await season.careers.find(user)).toEqual(before)
    expect(await weekOf(user)).toEqual(weekBefore)
    expect(await season.boards.main.place({ by: 'pnl', districtId: null }, user)).toMatchObject({
      standing: { closed: 1, pnl: before.main.pnl },
    })
    const changes = await new AccountLog(open().db, world).changes(user, 0, 99)
    const last = changes?.kind === 'events' ? changes.events.at(-1) : null
    expect(last).toMatchObject({
      kind: 'corrected',
      position: { close: { by: 'void', voidNote: 'seen beside the pitch' } },
    })
    const ledger = await season.wallets.ledger(user, { purse: 'main', limit: 1, offset: 0 })
    expect(ledger).toMatchObject([{ kind: 'void', amount: -u(855), positionId: won.id }])
    await season.booksBalance()
  })

  it('[D20] a void that takes a record back waits for the detached months in which its owner has traded', async () => {
    const { db } = open()
    const [user, other] = [await season.player(), await season.player()]
    const match = await season.match()
    const won: PositionId[] = []
    for (const owner of [user, other]) {
      const position = await match.open(owner, { lots: 9 })
      await match.close(position, 219)
      won.push(position.id)
    }
    await season.settle()
    const before = await season.careers.find(user)
    await sql`insert into detached_balances values ('2020-03', ${user}::uuid, 'main', 0)`.execute(db)
    for (const id of won) await voids().void(request(id))
    const retried = async () => {
      await sql`update outbox_cursors set retry_at = '-infinity' where match_id = ${match.id}::bigint`.execute(db)
      await season.settle()
    }
    await retried()
    expect(await season.careers.find(user)).toEqual(before)
    expect(season.reports).toContain('reaction_failed')
    await sql`delete from detached_balances where month = '2020-03'`.execute(db)
    await retried()
    for (const owner of [user, other]) {
      expect(await season.careers.find(owner)).toMatchObject({ bestWin: 0, largestLots: 0, main: { closed: 0 } })
    }
  })

  it('[A5] the answer to a close is repeated as it was given, though the position is void since', async () => {
    const [user, other] = [await season.player(), await season.player()]
    const { actor, order } = await runningMatch(open(), world, ++matches)
    const held = await actor.submit(order(user, { lots: lots(u(20)) }))
    if (!held.ok) throw new Error(held.refusal.code)
    await actor.submit(order(other, { lots: lots(u(40)) }))
    const { id } = held.value.position
    const idempotency = { id: commandId(user, 'close', 'k'), fingerprint: 'digest' }
    const close = { kind: 'close_position', userId: user, positionId: id, idempotency } as const
    const given = await actor.submit(close)
    if (!given.ok) throw new Error(given.refusal.code)
    const { position } = given.value
    expect(position.close?.pnl).toBeGreaterThan(0)
    expect(await voids().void(request(id))).toMatchObject({ kind: 'voided', done: { pnl: position.close?.pnl } })
    const repeated = { ...given.value, wallet: expect.anything(), repeated: true }
    expect(await actor.submit(close)).toEqual({ ok: true, value: repeated })
  })

  it('[C4] a void leaves the reasons and keys of earlier ones as they are', async () => {
    const match = await season.match()
    const requests = []
    for (const n of [1, 2, 3]) {
      const position = await match.open(await season.player(), { lots: 1 })
      await match.close(position, 201)
      const one = request(position.id, { reason: `reason ${n}`, commandId: commandId(admin, 'void', `of ${n}`) })
      expect(await voids().void(one)).toMatchObject({
        kind: 'voided',
        done: { reason: `reason ${n}` },
        repeated: false,
      })
      requests.push({ one, done: await store().done(position.id) })
      clock.now += 60_000
    }
    for (const { one, done } of requests) {
      expect(await voids().void(one)).toMatchObject({ kind: 'voided', done, repeated: true })
    }
    await season.booksBalance()
  })

  it('[C4] a user whose only close is void is on no board, and a loss is given back', async () => {
    const user = await season.player()
    const match = await season.match()
    const lost = await match.open(user, { lots: 2 })
    await match.close(lost, 190)
    await season.settle()
    const roi = { by: 'roi', districtId: null } as const
    expect(await season.boards.main.place(roi, user)).not.toBeNull()
    await voids().void(request(lost.id))
    expect(await balanceOf(user)).toBe(STARTING_BALANCE)
    await season.settle()
    expect(await season.boards.main.place(roi, user)).toBeNull()
    expect(await season.careers.find(user)).toEqual(NEW_CAREER)
    expect(await weekOf(user)).toEqual([])
  })

  it('[C4] what is void is no loss of the day, and no win to lose again', async () => {
    const dayResult = async (user: UserId) => {
      const wallet = open().db.selectFrom('wallets').select('day_result_micros').where('user_id', '=', user)
      return (await wallet.where('purse', '=', 'main').executeTakeFirstOrThrow()).day_result_micros
    }
    for (const price of [190, 220]) {
      const user = await season.player()
      const match = await season.match()
      const position = await match.open(user)
      await match.close(position, price)
      expect(await dayResult(user)).toBe(u((price - 200) * 5))
      await voids().void(request(position.id))
      expect(await dayResult(user)).toBe(0)
      const old = await match.open(user)
      await match.close(old, price)
      clock.now += 24 * 3_600_000
      const today = await (await season.match()).open(user)
      expect(today.id).not.toBe(old.id)
      const before = await dayResult(user)
      await voids().void(request(old.id))
      expect(await dayResult(user)).toBe(before)
    }
  })

  it('[C4] what a wallet cannot give back is booked to the house, and shown', async () => {
    const user = await season.player()
    const match = await season.match()
    const won = await match.open(user, { lots: 10 })
    await match.close(won, 220)
    // All of it is in another position.
    const held = match.position(user, { lots: 100 })
    const balance = (await balanceOf(user)) ?? 0
    const margin = money(balance - u(300))
    await match.commit([{ kind: 'position_opened', position: { ...held, margin } }])
    expect(await voids().void(request(won.id))).toMatchObject({ done: { pnl: u(1_000), shortfall: u(700) } })
    expect(await balanceOf(user)).toBe(0)
    const ledger = await season.wallets.ledger(user, { purse: 'main', limit: 99, offset: 0 })
    expect(ledger.flatMap(({ kind, amount }) => (kind.startsWith('void') ? [[kind, amount]] : []))).toEqual(
      expect.arrayContaining([
        ['void', -u(1_000)],
        ['void_shortfall', u(700)],
      ]),
    )
    await season.booksBalance()
  })

  it('[C4] a repetition under its key changes nothing; another void is refused, and many at once are one', async () => {
    const user = await season.player()
    const match = await season.match()
    const won = await match.open(user)
    await match.close(won, 220)
    const key = world.newId()
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => voids().void(request(won.id, { commandId: key }))),
    )
    expect(outcomes.map(({ kind }) => kind)).toEqual(Array(8).fill('voided'))
    expect(await balanceOf(user)).toBe(STARTING_BALANCE)
    expect(await voids().void(request(won.id, { commandId: key, reason: 'other' }))).toMatchObject({
      kind: 'voided',
      repeated: true,
      done: { pnl: u(100), reason: 'seen beside the pitch' },
    })
    expect(await voids().void(request(won.id))).toEqual({ kind: 'void' })
    const second = await match.open(user)
    expect(await voids().void(request(second.id, { commandId: key }))).toEqual({ kind: 'key_reused' })
    await season.booksBalance()
  })

  it('[C4] one key for two positions at once voids one, and refuses the other', async () => {
    const user = await season.player()
    const match = await season.match()
    for (let round = 0; round < 5; round++) {
      const won = [await match.open(user), await match.open(user)]
      for (const each of won) await match.close(each, 220)
      const key = world.newId()
      const asked = [...won, ...won, ...won].map(({ id }) => voids().void(request(id, { commandId: key })))
      const kinds = new Set((await Promise.all(asked)).map(({ kind }) => kind))
      expect(kinds).toContain('voided')
      expect(kinds).toContain('key_reused')
      const byUs = await open()
        .db.selectFrom('positions')
        .select('id')
        .where('closed_by', '=', 'void')
        .where(
          'id',
          'in',
          won.map(({ id }) => id),
        )
        .execute()
      expect(byUs).toHaveLength(1)
    }
    await season.booksBalance()
  })

  it('[C4] of two operators who void one position at once one does, and keeps the key and the reason', async () => {
    const user = await season.player()
    const match = await season.match()
    const others = world.newId() as UserId
    for (let round = 0; round < 5; round++) {
      const won = await match.open(user)
      await match.close(won, 220)
      const requests = [
        request(won.id, { commandId: world.newId(), reason: 'seen beside the pitch' }),
        request(won.id, { commandId: world.newId(), reason: 'one of a ring', by: others }),
        request(won.id, { commandId: null, reason: 'without a key' }),
      ]
      const outcomes = await Promise.all(requests.map((each) => voids().void(each)))
      const winners = requests.filter((_, n) => outcomes[n]?.kind === 'voided')
      expect(winners).toHaveLength(1)
      for (const each of requests) {
        const again = await voids().void(each)
        const isOurs = winners.includes(each) && each.commandId !== null
        expect(again).toMatchObject(isOurs ? { kind: 'voided', repeated: true } : { kind: 'void' })
      }
      const note = await open()
        .db.selectFrom('position_voids')
        .select(['reason', 'command_id'])
        .where('position_id', '=', won.id)
        .executeTakeFirstOrThrow()
      expect(note).toEqual({ reason: winners[0]?.reason, command_id: winners[0]?.commandId })
    }
    expect(await balanceOf(user)).toBe(STARTING_BALANCE)
    await season.booksBalance()
  })

  it('[C4][H10] a void and its audit entry are one: money that cannot be audited does not move', async () => {
    const user = await season.player()
    const match = await season.match()
    const won = await match.open(user)
    await match.close(won, 220)
    const balance = await balanceOf(user)
    const key = world.newId()
    vi.spyOn(AuditLog.prototype, 'record').mockRejectedValueOnce(new Error('no audit'))
    await expect(voids().void(request(won.id, { commandId: key }))).rejects.toThrow('no audit')
    expect(await balanceOf(user)).toBe(balance)
    expect(await voids().void(request(won.id, { commandId: key }))).toMatchObject({ kind: 'voided', repeated: false })
    expect(await balanceOf(user)).toBe(STARTING_BALANCE)
    const audit = new AuditLog(open().db, world)
    const entries = await audit.list(9, null, { action: 'position.void', subject: won.id })
    const entry = { actor: admin, before: { userId: user, realizedPnl: 100 }, outcome: 'ok' }
    expect(entries).toMatchObject([{ ...entry, after: { shortfall: 0 }, reason: 'seen beside the pitch' }])
    await season.booksBalance()
  })

  it('[C4] a void that came to nothing does not keep another operator from voiding', async () => {
    const user = await season.player()
    const match = await season.match()
    const won = await match.open(user)
    await match.close(won, 220)
    const positionVoids = store()
    expect(await positionVoids.begin(request(won.id, { commandId: world.newId() }))).toMatchObject({ kind: 'closed' })
    expect(await voids().void(request(won.id))).toEqual({ kind: 'busy' })
    clock.now += 31_000
    expect(await voids().void(request(won.id))).toMatchObject({ kind: 'voided', repeated: false })
    await season.booksBalance()
  })
})
