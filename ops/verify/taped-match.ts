/**
 * Plays a recorded match with simulated traders through the real actor, in this process, and keeps its tape and its
 * recording as anybody could download them. Equal calls give equal texts.
 */
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, type FixtureId, type PositionId, type UserId, userId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, STARTING_BALANCE, type TradingRules } from '../../actors/kernel/limits.ts'
import { type Instant, instant } from '../../actors/kernel/world.ts'
import { quoteOf } from '../../actors/market/instrument.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import { MatchActor } from '../../actors/match/actor.ts'
import { type MatchView, newMatch } from '../../actors/match/state.ts'
import type { Batch, MatchRecord, MatchStore } from '../../actors/match/store.ts'
import { chanceFrom } from '../../actors/replay/chance.ts'
import type { Recording } from '../../actors/replay/recording.ts'
import { HABITS, nextAction, type Trader, type TraderView } from '../../actors/replay/traders.ts'
import { JournalWriter } from '../../db/journal-codec.ts'
import { Names, TapePublisher, unpacked } from '../../db/tape-lines.ts'
import { TapeWriter } from '../../db/tape-writer.ts'
import { Till } from '../../src/match-run/till.ts'
import { recordedMatch } from '../../src/match-run/recorded-match.ts'

export interface TapedMatch {
  readonly matchId: FixtureId
  /** Without their ends of line. */
  readonly tape: readonly string[]
  readonly recording: readonly string[]
  /** The positions that were opened, with what proves whose they are. */
  readonly positions: readonly { readonly id: PositionId; readonly userId: UserId; readonly salt: string }[]
}

export interface TapedMatchOptions {
  readonly recording: Recording
  readonly traders: number
  readonly seed: number
  /** The match has a new owner after each of these updates, as after a crash. */
  readonly takeOvers?: readonly number[]
}

const FRAME_MS = 10_000
const SPEED = 1
const PLAYERS = 'replay/verify'
/** Traders who look at the market in one frame: one in twenty. */
const LOOKING = 20
const SECRET = '7f'.repeat(32)

/** The store of a run, and the texts of what is committed to it. */
class TapedTill extends Till {
  readonly tape: string[] = []
  readonly recording: string[] = []
  readonly opened: { readonly id: PositionId; readonly userId: UserId }[] = []
  readonly #journal = new JournalWriter()
  readonly #writer = new TapeWriter(
    async () => (this.tape.length === 0 ? null : { n: this.tape.length, secret: Buffer.from(SECRET, 'hex') }),
    { secret: () => SECRET },
  )
  readonly #publisher = new TapePublisher(Buffer.from(SECRET, 'hex'))
  #commits = 0

  override async commit(batch: Batch): ReturnType<MatchStore['commit']> {
    const verdict = await super.commit(batch)
    if (verdict.kind !== 'committed') return verdict
    const journal = this.#journal.row(batch.matchId, batch.epoch, batch.heard ?? [])
    const row = await this.#writer.row(batch, journal?.lines ?? [])
    journal?.keep()
    row?.keep()
    for (const text of row === null ? [] : unpacked(row.lines)) this.tape.push(this.#publisher.publish(text))
    if (journal !== null) this.#commits += 1
    for (const line of journal?.lines ?? []) {
      this.recording.push(JSON.stringify({ n: this.#commits, epoch: batch.epoch, ...line }))
    }
    for (const event of batch.events) if (event.kind === 'position_opened') this.opened.push(event.position)
    return verdict
  }
}

/** Plays a match to its end. */
export async function tapedMatch({ recording, traders, seed, takeOvers = [] }: TapedMatchOptions): Promise<TapedMatch> {
  const { snapshots, histories } = recordedMatch(recording, PLAYERS)
  const first = present(snapshots[0], 'first update')
  const chance = chanceFrom(seed)
  const till = new TapedTill(histories, STARTING_BALANCE)
  const people = Array.from({ length: traders }, (_, n): Trader => ({
    userId: user(n),
    habit: present(HABITS[n % HABITS.length], 'habit'),
  }))
  let [now, ids, epoch] = [first.sourceAt, 0, 0]
  const rules: TradingRules = DEFAULT_RULES
  const world = {
    now: () => now,
    steady: { now: () => now },
    newId: () => `00000000-0000-7000-8000-${String((ids += 1)).padStart(12, '0')}`,
    randomInt: () => 0,
    secret: () => SECRET,
  }
  const own = (record: MatchRecord): MatchActor => {
    epoch += 1
    const actor = new MatchActor({
      record,
      epoch,
      store: till,
      world,
      rules: () => rules,
      model: () => DEFAULT_MODEL,
      pause: () => Promise.resolve(),
      onCommitted: () => void actor.takeUnpublished(),
      onStopped: () => undefined,
    })
    return actor
  }
  let actor = own(newMatch({ ...first, fixtureId: fixtureId(1) }, { replay: true }))
  let seq = 0
  for (const [frame, snapshot] of snapshots.entries()) {
    now = instant(first.sourceAt + frame * FRAME_MS)
    const source = { payload: recording.frames[frame], players: PLAYERS }
    const update = { ...snapshot, fixtureId: fixtureId(1), sourceAt: now }
    await actor.feed({ kind: 'feed_update', seq: (seq += 1), snapshot: update, speed: SPEED, source })
    await actor.clock()
    const looking = people.filter(() => chance.below(LOOKING) === 0)
    now = instant(now + chance.below(FRAME_MS / 2))
    const orders = looking.flatMap(
      (one) => nextAction(one, viewOf(actor, one.userId, till, now), (n) => chance.below(n)) ?? [],
    )
    await Promise.all(orders.map((order) => actor.submit(order)))
    if (takeOvers.includes(frame)) actor = own(recordOf(actor.view))
  }
  if (actor.view.info.settling === null) await actor.end('full_time')
  while (actor.view.info.settledAt === null) await actor.clock()
  await actor.stop()
  const names = new Names(Buffer.from(SECRET, 'hex'))
  const positions = till.opened.map(({ id, userId: owner }) => ({ id, userId: owner, salt: names.of(id).salt }))
  return { matchId: fixtureId(1), tape: till.tape, recording: till.recording, positions }
}

const user = (n: number): UserId => userId(`00000000-0000-7000-9000-${String(n).padStart(12, '0')}`)

function viewOf(actor: MatchActor, id: UserId, till: Till, now: Instant): TraderView {
  return {
    now,
    balance: till.funds(id, now).free,
    instruments: [...actor.view.instruments()].map((one) => ({
      instrumentId: one.id,
      price: quoteOf(one).price,
      base: one.base,
      start: one.start,
      suspended: actor.window(one.id).status !== 'OPEN',
    })),
    positions: actor.view.positionsOf(id),
  }
}

/** The match as a new owner would load it. */
const recordOf = (view: MatchView): MatchRecord => ({
  info: view.info,
  pricing: view.pricing,
  instruments: [...view.instruments()].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  openPositions: [...view.openPositions()].toSorted((a, b) => a.openedAt - b.openedAt || (a.id < b.id ? -1 : 1)),
})
