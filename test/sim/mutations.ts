/**
 * Deliberate breakages of the game. The simulator must catch every one of them; what it does not catch here it would
 * not catch if it happened by mistake.
 */
import type { Mutation } from '../support/mutants.ts'

const mutation = (name: string, file: string, from: string, to: string): Mutation => ({
  name,
  edits: [{ file, from, to }],
})

const ACTOR = 'actors/match/actor.ts'
const ENTRY = 'actors/match/entry.ts'
const APPLY = 'actors/match/apply.ts'
const MOVES = 'actors/match/feed-updates.ts'
const RULE_CHANGE = 'actors/match/rule-change.ts'
const TRADING = 'actors/match/trading.ts'
const WINDOW = 'actors/match/suspension.ts'
const POSITION = 'actors/position/position.ts'
const TRIGGERS = 'actors/position/triggers.ts'
const CURVE = 'actors/market/price-curve.ts'
const DUE = 'actors/match/due.ts'
const INSTRUMENT = 'actors/market/instrument.ts'
const STEP = 'actors/match/shared-step.ts'
const STATE = 'actors/match/state.ts'
const SHARE = 'rooms/match/fair-share.ts'
const STORE = 'test/support/memory-store.ts'

export const MUTATIONS: readonly Mutation[] = [
  mutation('the fence is skipped', STORE, `this.#epochs.get(batch.matchId) !== batch.epoch`, `batch.epoch < 0`),
  mutation(
    'a ledger row is lost',
    STORE,
    `entries.push({ ...ownerOf(position), amount: -position.margin, reference: \`open:\${position.id}\` })`,
    ``,
  ),
  mutation(
    'the wrong user is credited',
    STORE,
    `add(event.position, margin + close.pnl,`,
    `add({ ...event.position, userId: batch.watch[0]?.userId ?? event.position.userId }, margin + close.pnl,`,
  ),
  mutation(
    'news moves only what is open',
    'actors/match/protection/protect.ts',
    `if (shifts.size + changed.size > 0) moveClosed(`,
    `if (shifts.size + changed.size > Infinity) moveClosed(`,
  ),
  mutation(
    'news moves washouts, too',
    'actors/position/moved.ts',
    `new Set(['user', 'stop_loss', 'take_profit'])`,
    `new Set(['user', 'stop_loss', 'take_profit', 'washout'])`,
  ),
  mutation(
    'a new owner forgets what news may still move',
    STORE,
    `movableCloses: [...this.#movable].flatMap(`,
    `movableCloses: [...this.#movable].slice(0, 0).flatMap(`,
  ),
  mutation('what news may still move can be spent', STORE, `< locked + change.held) {`, `< 0) {`),
  mutation(
    'the wrong purse pays',
    STORE,
    `add(event.position, -event.position.margin,`,
    `add({ ...event.position, purse: 'main' }, -event.position.margin,`,
  ),
  mutation(
    'the key check is skipped',
    STORE,
    `if (held !== undefined) failures.set`,
    `if (held === null) failures.set`,
  ),
  mutation(
    'a key is everybody’s',
    STORE,
    `of batch.keyed) {\n      const held = this.#results.get(idempotency.id)`,
    `of batch.keyed) {\n      const own = idempotency.id.slice(userId.length)\n      const held = [...this.#results].find(([id]) => id.endsWith(own))?.[1]`,
  ),
  mutation(
    'the position limit is skipped',
    STORE,
    `wallet.open + change.open > batch.openPositionsMax`,
    `wallet.open < 0`,
  ),
  mutation('margin rounds down', POSITION, `money(mulDivCeil(at, size`, `money(mulDivFloor(at, size`),
  mutation('a loss may exceed the margin', POSITION, `money(Math.max(-p.margin, pnlAt(p, at)))`, `pnlAt(p, at)`),
  mutation(
    'a gap costs more than the margin',
    TRADING,
    `const price = withinMargin(position, how.price)`,
    `const { price } = how`,
  ),
  mutation(
    'profit rounds up',
    POSITION,
    `money(mulDivFloor(signOf(p.direction)`,
    `money(mulDivCeil(signOf(p.direction)`,
  ),
  mutation(
    'the hold ends a second early',
    POSITION,
    `Math.ceil((p.closableAt - now)`,
    `Math.floor((p.closableAt - now)`,
  ),
  mutation(
    'a take-profit lies on the wrong side',
    POSITION,
    `(above === null || above > at)`,
    `(above === null || direction === 'long' || above > at)`,
  ),
  mutation(
    'an open fills before its impact',
    TRADING,
    `const openPrice = openingFill(instrument, { ...command, purse })`,
    `const openPrice = quoteOf(instrument).price`,
  ),
  mutation(
    'an open fills after its whole impact',
    TRADING,
    `const openPrice = openingFill(instrument, { ...command, purse })`,
    `const openPrice = quoteAfter(instrument, exposureOf({ ...command, purse })).price`,
  ),
  mutation(
    'a close fills before its own removal',
    TRADING,
    `const fill = closingFill(instrument, { ...whole, lots: size })`,
    `const fill = quoteOf(instrument).price`,
  ),
  mutation(
    'those who leave together fill at one unmoved price',
    TRADING,
    `price: exitPrice(before, exposureOfLeaving(due)) }`,
    `price: quoteOf(before).price }`,
  ),
  mutation(
    'those who leave together fill one by one at one another’s price',
    TRADING,
    `emitClose(draft, position, { ...how, price: isCommon(position.purse) ? fill : leaguePrice(before), by }, terms)`,
    `emitClose(draft, position, { ...how, price: exitPrice(before, exposureOf(position)), by }, terms)`,
  ),
  mutation(
    'a step over several commits forgets who is out',
    STEP,
    `price: exitPrice(began, lots(out + leaving))`,
    `price: exitPrice(began, lots(0 * out + leaving))`,
  ),
  mutation(
    'a step over several commits is priced where the imbalance is by now',
    STEP,
    `imbalance: leavingFrom,\n`,
    `imbalance: leavingFrom < 0 ? leavingFrom : instrument.imbalance,\n`,
  ),
  mutation(
    'users trade in the middle of a step',
    WINDOW,
    `if (instrument.leavingFrom !== null) return LEAVING`,
    `void LEAVING`,
  ),
  mutation(
    'the feed moves prices in the middle of a step',
    ACTOR,
    `return leavingOf(this.#state) !== null\n`,
    `return false\n`,
  ),
  mutation(
    'a league moves the price',
    POSITION,
    `lots(isCommon(p.purse) ? signOf(p.direction) * p.lots : 0)`,
    `lots(signOf(p.direction) * p.lots)`,
  ),
  mutation(
    'full time pays a league what it pays the market',
    MOVES,
    `isCommon(position.purse) ? settlement : leaguePrice({ base })`,
    `settlement`,
  ),
  mutation(
    'levels of a league watch the price',
    DUE,
    `reachOf(leaguePrice(instrument), 0)`,
    `reachOf(quoteOf(instrument).price, 0)`,
  ),
  mutation(
    'the purse of the match answers for a league',
    ENTRY,
    `if (decision.kind === 'allowed') return decision.allowed.position.purse`,
    ``,
  ),
  mutation(
    'levels look at the published price',
    DUE,
    `const exit = closingFill(instrument, position)`,
    `const exit = quoteOf(instrument).price`,
  ),
  mutation(
    'full time pays what is left of the crowd',
    MOVES,
    `const quote = quoteOf(before)\n`,
    `const quote = quoteOf({ ...before, endedImbalance: null })\n`,
  ),
  mutation(
    'levels fire while full time waits',
    DUE,
    `if (instrument.endedImbalance !== null || instrument.settlement !== null)`,
    `if (instrument.settlement !== null)`,
  ),
  mutation(
    'a holder who leaves after the whistle moves the price for the others',
    INSTRUMENT,
    `const imbalance = endedImbalance ?? lots(instrument.imbalance + exposure)`,
    `const imbalance = lots(instrument.imbalance + exposure + 0 * (endedImbalance ?? 0))`,
  ),
  mutation(
    'the feed moves prices after the whistle',
    MOVES,
    `if (!isOver || !hadEnded) {`,
    `if (isOver || !hadEnded) {`,
  ),
  mutation(
    'a holder may leave a match that settles',
    WINDOW,
    `const waits = info.settling === null && (isPutOff || CLOSE_ONLY.has(info.phase))`,
    `const waits = isPutOff || CLOSE_ONLY.has(info.phase)`,
  ),
  mutation(
    'the curve is integrated without its cap',
    CURVE,
    `return n <= c ? n * n : c * (twice - c)`,
    `return n * n + 0n * (twice - c)`,
  ),
  mutation(
    'the bend at the cap is not looked behind',
    DUE,
    `return reachOf(price, Math.max(0, long, short))`,
    `return reachOf(price, 0 * (long + short))`,
  ),
  mutation(
    'a changed level fires a tick late',
    TRADING,
    `  draft.emit({ kind: 'levels_changed', position })\n  fireTriggers(draft, instrument.id, terms)\n`,
    `  draft.emit({ kind: 'levels_changed', position })\n`,
  ),
  mutation(
    'the bench is open',
    WINDOW,
    `onPitch !== null && !onPitch.includes(playerId)`,
    `onPitch !== null && onPitch.includes(playerId) && playerId < 0`,
  ),
  mutation('triggers fire a tick late', MOVES, `    fireTriggers(draft, before.id, terms)\n`, ``),
  mutation(
    'a cascade stops after one round',
    TRADING,
    `exposureOfLeaving(due)) }, id, terms)\n`,
    `exposureOfLeaving(due)) }, id, terms)\n    return\n`,
  ),
  mutation(
    'the price guard looks at the quote',
    TRADING,
    `priceMoved(intent.clientPrice, published,`,
    `priceMoved(intent.clientPrice, quoteOf(instrument).price,`,
  ),
  mutation(
    'anybody may close a position',
    TRADING,
    `position === undefined || position.userId !== command.userId`,
    `position === undefined`,
  ),
  mutation('a void keeps the margin', MOVES, `pnl: money(0), ...how`, `pnl: money(-position.margin), ...how`),
  mutation(
    'a settlement re-prices as it goes',
    MOVES,
    `const settlement = present(fixed, 'settlement price')`,
    `const { price: settlement } = quoteOf({ ...draft.listed(position.instrumentId), settlement: fixed === null ? fixed : null })`,
  ),
  mutation(
    'a match settles before full time has held',
    MOVES,
    `heldMs >= terms.rules.settlementConfirmMs`,
    `heldMs >= 0`,
  ),
  mutation(
    'an old update counts again',
    MOVES,
    `command.seq <= draft.info.feedSeq`,
    `command.seq < draft.info.feedSeq - 1`,
  ),
  mutation('a close forgets the imbalance', APPLY, `return addImbalance(target, event.position, -1)`, `return`),
  mutation('the crowd has no cap', CURVE, `return n > c\n`, `return n > c && c < 0\n`),
  mutation('a late feed does not suspend', WINDOW, `now - info.sourceAt > rules.feedStaleMs`, `now < info.sourceAt`),
  mutation('a frozen clock does not suspend', WINDOW, `now - info.clock.movedAt > rules.feedFrozenMs`, `now < 0`),
  mutation(
    'a stop-loss is forgotten by the book',
    TRIGGERS,
    `{ floor: higher(p.stopLoss, loss), ceiling: p.takeProfit }`,
    `{ floor: loss, ceiling: p.takeProfit }`,
  ),
  mutation(
    'changed levels are not watched',
    STATE,
    `    this.#triggers.remove(present(this.#positions.get(position.id), 'position to change'))\n    this.#positions.set(position.id, position)\n    this.#byUser.change(position)\n    this.#triggers.add(position, this.listed(position.instrumentId).slope)`,
    `    this.#positions.set(position.id, position)`,
  ),
  {
    name: 'memory runs ahead of the commit',
    edits: [
      { file: ACTOR, from: `    for (const event of draft.events) this.#state.apply(event)\n`, to: `` },
      {
        file: ACTOR,
        from: `        const verdict = await this.#commit(`,
        to: `        for (const event of draft.events) this.#state.apply(event)\n        const verdict = await this.#commit(`,
      },
    ],
  },
  mutation(
    'an actor goes on after a commit of unknown outcome',
    ACTOR,
    `    this.#stopped = true\n    for (const entry of this.#mailbox`,
    `    for (const entry of this.#mailbox`,
  ),
  mutation(
    'an unknown outcome is reported as nothing started',
    ACTOR,
    `for (const entry of batch) entry.fail(error)`,
    `for (const entry of batch) entry.userId === null ? entry.fail(error) : entry.answer(BUSY)`,
  ),
  mutation(
    'a repeated answer looks like the first',
    ENTRY,
    `wallet: stored.wallet, repeated: true`,
    `wallet: stored.wallet, repeated: false`,
  ),
  mutation(
    'another body gets the stored answer',
    ENTRY,
    `stored.fingerprint !== idempotency?.fingerprint`,
    `idempotency === null`,
  ),
  mutation(
    'a refusal caused by a rejected command stays',
    ACTOR,
    `learned.repeated.get(entry) ?? this.#decide(entry, draft, terms))`,
    `learned.repeated.get(entry) ?? this.#decide(entry, draft, terms))\n        for (const [entry, decision] of decisions) if (decision.kind === 'refused') learned.repeated.set(entry, decision)`,
  ),
  mutation(
    'an order that cannot be paid moves the price for the others',
    TRADING,
    `  const poor = walletRefusal(draft, instrument, position, terms)\n  if (poor !== null) return refused(poor)\n  draft.emit({ kind: 'position_opened', position })\n`,
    `  const poor = walletRefusal(draft, instrument, position, terms)\n  const { imbalance } = instrument\n  if (poor !== null) draft.putInstrument({ ...instrument, imbalance: lots(imbalance + exposureOf(command)) })\n  if (poor !== null) return refused(poor)\n  draft.emit({ kind: 'position_opened', position })\n`,
  ),
  mutation('a changed rule fires nothing', RULE_CHANGE, `  fireTriggers(draft, id, terms)\n`, ``),
  mutation(
    'equity counts at the prices before the batch',
    ACTOR,
    `watch: holdingsOf(draft, walletsOf(batch, decisions, draft)),`,
    `watch: holdingsOf(this.#state, walletsOf(batch, decisions, draft)),`,
  ),
  mutation('a published price is not remembered', ACTOR, `this.#state.markPublished(before.id, now.price)`, `void now`),
  mutation(
    'a crowd leaves nothing for other matches',
    SHARE,
    `else if (other !== matchId) return SHARED_BATCH_MAX`,
    `else if (other !== matchId) return BATCH_MAX`,
  ),
]
