/** Open positions at live prices, and closed positions. */
import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import {
  accountValue,
  areKnown,
  change,
  close,
  closedByWords,
  movesUntil,
  moveWords,
  history,
  liveExit,
  livePnl,
  locked,
  lockedMs,
  marginUsed,
  older,
  positionOf,
  positions,
  refreshHistory,
  wallet,
} from '../account.ts'
import { pick } from '../address.ts'
import { purse, purseName } from '../leagues.ts'
import { nameOf } from '../names.ts'
import type { Levels, Position } from '../client/wire.ts'
import { arrow, countdown, dayTime, lots, percent, secondOfDay, share, signed, units, way } from '../format.ts'
import { html } from '../html.ts'
import { selectedId } from '../market.ts'
import { CloseButton } from './close-button.ts'
import { PositionTools, shownIds, sorting } from './position-tools.ts'
import { PurseBadge } from './purse.ts'
import { PositionReasons } from './reasons.ts'
import { Ring } from './ring.ts'
import { aimed, still } from './still.ts'
import { useTyped } from './use-typed.ts'
import { messageFor } from '../error-messages.ts'
import { now } from '../server-clock.ts'
import { toast } from '../toasts.ts'
import { say, words } from '../words.ts'

const tab = signal<'open' | 'closed'>('open')
/** How many positions the user has closed in this list. */
const closedHere = signal(0)

export function PositionList() {
  const open = areKnown.value ? positions.value.size : '–'
  useEffect(() => {
    if (tab.value === 'closed') refreshHistory().catch(() => undefined)
  }, [tab.value])
  return html`
    <section class="card positions" aria-labelledby="positions-title">
      <header>
        <h2 id="positions-title">${words.positions.title}</h2>
        <div class="choice" role="group" aria-label=${words.positions.which}>
          <button aria-pressed=${tab.value === 'open'} onClick=${() => (tab.value = 'open')}>
            ${say(words.positions.open, { n: open })}
          </button>
          <button aria-pressed=${tab.value === 'closed'} onClick=${() => (tab.value = 'closed')}>
            ${words.positions.closed}
          </button>
        </div>
        ${tab.value === 'open' ? html`<${PositionTools} />` : null}
      </header>
      <${Worth} />
      ${tab.value === 'open' ? html`<${OpenList} />` : html`<${ClosedList} />`}
    </section>
  `
}

/** The wallet, on screens whose top bar has no room for all of it. */
const Worth = () =>
  wallet.value === null
    ? null
    : html`
        <dl
          class="worth"
          aria-label=${purse.value === 'main' ? words.positions.wallet : say(words.nav.walletOf, { purse: purseName(purse.value) })}
        >
          <div>
            <dt>${words.positions.value}</dt>
            <dd class="num">${units(accountValue.value)}</dd>
          </div>
          <div>
            <dt>${words.positions.free}</dt>
            <dd class="num">${units(wallet.value.freeMargin)}</dd>
          </div>
          ${
            locked.value > 0
              ? html`<div title=${words.nav.lockedHint}>
                  <dt>${words.nav.locked}</dt>
                  <dd class="num">${units(locked.value)} <${FreeIn} /></dd>
                </div>`
              : null
          }
          <div>
            <dt>${words.positions.stakes}</dt>
            <dd class="num">${units(marginUsed.value)}</dd>
          </div>
        </dl>
      `

/** The clock is read here alone, so that the list is not drawn with every second. */
const FreeIn = () =>
  lockedMs.value > 0 ? html`<small>${say(words.nav.freeIn, { time: countdown(lockedMs.value) })}</small>` : null

/** Under a finger, a mouse or the focus no row goes but one that was closed here: another that has closed says so. */
function OpenList() {
  const [{ shown, handlers }] = useState(() =>
    still(
      () => shownIds.value,
      () => `${sorting()} ${closedHere.value}`,
    ),
  )
  const [aim] = useState(aimed)
  const rows = [...new Set([...shown.value, ...shownIds.value])].flatMap((id) => positionOf(id) ?? [])
  const ids = rows.map(({ id }) => id)
  useLayoutEffect(() => {
    // The dock is as high as its rows.
    document.documentElement.style.setProperty('--held', String(Math.max(1, ids.length)))
    aim.drawn(ids)
  }, [ids.join()])
  if (rows.length === 0) {
    return html`<p class="empty" aria-busy=${!areKnown.value}>
      ${areKnown.value ? words.positions.noneOpen : words.positions.fetching}
    </p>`
  }
  return html`<ul class="held" ...${handlers} ...${aim.handlers}>
    ${rows.map((position) => html`<${Held} key=${position.id} position=${position} />`)}
  </ul>`
}

function Held({ position }: { position: Position }) {
  const pnl = livePnl(position)
  const row = useRef<HTMLLIElement>(null)
  const [trouble, setTrouble] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const attempt = async (action: () => Promise<unknown>): Promise<void> => {
    setBusy(true)
    setTrouble(null)
    try {
      await action()
    } catch (error) {
      // The row may be gone by then, or another view shown.
      if (row.current?.checkVisibility() === true) setTrouble(messageFor(error))
      else toast({ tone: 'bad', title: nameOf(position.instrumentId), text: messageFor(error) })
    }
    setBusy(false)
  }
  const closeIt = async (lotSize?: number): Promise<void> => {
    if (await close(position.id, lotSize)) return
    closedHere.value++
    // The button goes with its position: the focus goes to what stays, unless the user has moved it.
    const { activeElement: focused, body } = document
    if (focused !== body && row.current?.contains(focused) !== true) return
    document.querySelector<HTMLElement>('.positions header button')?.focus({ preventScroll: true })
  }
  return html`
    <li ref=${row} aria-current=${selectedId.value === position.instrumentId ? 'true' : undefined}>
      <div class="what">
        <button class="link" onClick=${() => pick(position.instrumentId)}>${nameOf(position.instrumentId)}</button>
        <small>
          <em class=${position.direction}
            >${position.direction === 'long' ? '▲' : '▼'} ${words.common[position.direction]}</em
          >
          <${PurseBadge} purse=${position.purse} />
          <span class="num">
            ${lots(position.lotSize)} · ${units(position.openPrice)} → ${units(liveExit(position))}</span
          >
        </small>
      </div>
      <div class="pnl num ${way(pnl)}">
        <b><i aria-hidden="true">${arrow(pnl)}</i> ${signed(pnl)}</b>
        <small
          >${say(words.positions.of, { pct: percent((100 * pnl) / position.margin), stake: units(position.margin) })}</small
        >
      </div>
      <${Health} position=${position} lost=${Math.max(0, -pnl / position.margin)} />
      <${LevelsOf} position=${position} isBusy=${isBusy || position.status === 'closed'} attempt=${attempt} />
      <${CloseButton}
        position=${position}
        isBusy=${isBusy}
        onClose=${(lotSize?: number) => void attempt(() => closeIt(lotSize))}
      />
      <${PositionReasons} position=${position} />
      <${Moves} position=${position} />
      ${trouble === null ? null : html`<p class="trouble" role="alert">${trouble}</p>`}
    </li>
  `
}

/** What news has done to its fills, and may still do. */
function Moves({ position }: { position: Position }) {
  const told = moveWords(position)
  const until = movesUntil(position)
  if (told === '' && until === null) return null
  const from = Date.parse(position.closedAt ?? position.openedAt)
  return html`<small class="why moves">
    ${told}${until === null ? null : html`<${Movable} from=${from} until=${until} isFirst=${told === ''} />`}
  </small>`
}

interface MovableProps {
  readonly from: number
  readonly until: number
  readonly isFirst: boolean
}

/** The clock is read here alone, as in `FreeIn`. */
const Movable = ({ from, until, isFirst }: MovableProps) =>
  now.value >= until
    ? null
    : html`${isFirst ? '' : ' · '}<${Ring} done=${(now.value - from) / (until - from)} />${' '}
        ${say(words.positions.movable, { until: secondOfDay(until) })}`

/** A meter of the lost part of the margin; of a closed position what closed it. */
const Health = ({ position, lost }: { position: Position; lost: number }) =>
  position.status === 'closed'
    ? html`<small class="health">${closedByWords(position)}</small>`
    : html`
        <div class="health ${lost >= 0.8 ? 'late' : lost >= 0.5 ? 'warn' : ''}">
          <meter min="0" max="1" value=${lost} aria-label=${words.positions.lost}>${share(lost)}</meter>
          <small class="num"
            >${say(words.positions.washout, { price: position.washoutPrice === null ? '–' : units(position.washoutPrice) })}</small
          >
        </div>
      `

interface LevelsProps {
  readonly position: Position
  readonly isBusy: boolean
  readonly attempt: (action: () => Promise<unknown>) => Promise<void>
}

function LevelsOf({ position, isBusy, attempt }: LevelsProps) {
  const set = (levels: Levels): void => void attempt(() => change(position.id, levels))
  return html`
    <div class="levels">
      <${LevelInput}
        label="SL"
        name=${words.positions.stopLoss}
        meaning=${words.help.stopLoss}
        value=${position.stopLoss}
        isBusy=${isBusy}
        onSet=${(stopLoss: number | null) => set({ stopLoss })}
      />
      <${LevelInput}
        label="TP"
        name=${words.positions.takeProfit}
        meaning=${words.help.takeProfit}
        value=${position.takeProfit}
        isBusy=${isBusy}
        onSet=${(takeProfit: number | null) => set({ takeProfit })}
      />
    </div>
  `
}

interface LevelInputProps {
  readonly label: string
  readonly name: string
  readonly meaning: string
  readonly value: number | null
  readonly isBusy: boolean
  readonly onSet: (level: number | null) => void
}

/** Sent on Enter or blur; empty removes the level. */
function LevelInput({ label, name, meaning, value, isBusy, onSet }: LevelInputProps) {
  const field = useTyped(value, onSet)
  return html`
    <label title="${name}: ${meaning}">
      <abbr>${label}</abbr><span>${name}</span>
      <input
        class="num"
        placeholder=${words.positions.none}
        aria-label=${say(words.ticket.levelPrice, { level: name })}
        readonly=${isBusy}
        ...${field}
      />
    </label>
  `
}

/** Newest first. What one price closes keeps its order, whether events or a list have told of it. */
const byClose = (a: Position, b: Position): number =>
  (b.closedAt ?? '').localeCompare(a.closedAt ?? '') || b.openedAt.localeCompare(a.openedAt) || a.id.localeCompare(b.id)

function ClosedList() {
  const closed = history.value
  if (closed === null) return html`<p class="empty" aria-busy="true">${words.positions.fetching}</p>`
  if (closed.length === 0) return html`<p class="empty">${words.positions.noneClosed}</p>`
  const newest = closed.toSorted(byClose)
  return html`<ul class="held closed">
    ${newest.map(
      (position) => html`
        <li key=${position.id}>
          <div class="what">
            <b>${nameOf(position.instrumentId)}</b>
            <small>
              <em class=${position.direction}
                >${position.direction === 'long' ? '▲' : '▼'} ${words.common[position.direction]}</em
              >
              <${PurseBadge} purse=${position.purse} />
              <span class="num">
                ${lots(position.lotSize)} · ${units(position.openPrice)} → ${units(position.closePrice ?? 0)}</span
              >
            </small>
          </div>
          <div class="pnl num ${way(position.realizedPnl ?? 0)}">
            <b><i aria-hidden="true">${arrow(position.realizedPnl ?? 0)}</i> ${signed(position.realizedPnl ?? 0)}</b>
          </div>
          <small class="why"
            >${position.partOf === null ? '' : `${words.positions.part} · `}${closedByWords(position)} ·${' '}
            ${position.closedAt === null ? '' : dayTime(position.closedAt)} ·${' '}
            <a href="/verify?match=${position.fixtureId}&position=${position.id}">${words.positions.prove}</a></small
          >
          <${PositionReasons} position=${position} />
          <${Moves} position=${position} />
        </li>
      `,
    )}
    ${older.value === null ? null : html`<li><button class="small" onClick=${more}>${words.positions.earlier}</button></li>`}
  </ul>`
}

const more = (): void =>
  void refreshHistory(older.peek() ?? undefined).catch((error: unknown) =>
    toast({ tone: 'bad', title: words.positions.earlier, text: messageFor(error) }),
  )
