/** What clients were told, against the events of their account: each planted fault is found, and nothing else. */
import { describe, expect, it } from 'vitest'
import { STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { Account, type Holding, Violation } from '../../ops/rehearse/rig/account.ts'
import { History } from '../../ops/rehearse/rig/history.ts'
import { type Command, Journal } from '../../ops/rehearse/rig/journal.ts'
import type { EventSeen, PositionSeen } from '../../ops/rehearse/rig/simulated-client.ts'

const UNIT = 1_000_000
const PRICE = 200 * UNIT
const MARGIN = 200 * UNIT

/** A position of one lot; `paid`: it is closed, and has paid this. */
const position = (id: string, { match = 1, paid }: { match?: number; paid?: number } = {}): PositionSeen => ({
  id,
  instrumentId: `player of match ${match}`,
  purse: 'main',
  direction: 'long',
  lotSize: UNIT,
  openPrice: PRICE,
  margin: MARGIN,
  stopLoss: null,
  takeProfit: null,
  status: paid === undefined ? 'open' : 'closed',
  closableAt: 0,
  closePrice: paid === undefined ? null : PRICE + paid / 5,
  realizedPnl: paid ?? null,
  closedBy: paid === undefined ? null : 'user',
  voidReason: null,
})

const opening = (match = 1): Command => ({
  kind: 'open',
  key: 'a key',
  order: {
    instrumentId: `player of match ${match}`,
    direction: 'long',
    lotSize: 1,
    clientPrice: 200,
    stopLoss: null,
    takeProfit: null,
  },
})
const closing = (positionId: string): Command => ({ kind: 'close', key: 'another', positionId })
const opened = (marker: number, of: PositionSeen): EventSeen => ({ marker, type: 'opened', position: of })
const closed = (marker: number, of: PositionSeen): EventSeen => ({ marker, type: 'closed', position: of })

/** What was asked, and what was heard: an answer with its wallet, a refusal, or nothing. */
type Heard = readonly [Command, { readonly answer: PositionSeen; readonly wallet: Holding } | 'refused' | 'lost']

const holds = (positions: number, paid = 0): Holding => ({
  balance: STARTING_BALANCE - positions * MARGIN + paid,
  marginUsed: positions * MARGIN,
})

/** Two matches on one wallet: one position in each, and the first is closed with a profit of ten units. */
const first = position('first')
const second = position('second', { match: 2 })
const won = position('first', { paid: 10 * UNIT })
const HEARD: readonly Heard[] = [
  [opening(1), { answer: first, wallet: holds(1) }],
  [opening(2), { answer: second, wallet: holds(2) }],
  [closing('first'), { answer: won, wallet: holds(1, 10 * UNIT) }],
]
const EVENTS: readonly EventSeen[] = [opened(1, first), opened(2, second), closed(3, won)]

/** As a client checks that sends one command after the other. */
function checkJournal(heard: readonly Heard[], events: readonly EventSeen[]): void {
  const [account, journal] = [new Account(), new Journal()]
  for (const [command, answer] of heard) {
    const entry = journal.begin(command)
    if (answer === 'refused') journal.refuse(entry, 'a rule')
    else if (answer !== 'lost') journal.acknowledge(entry, answer.answer, answer.wallet)
  }
  for (const event of events) {
    account.apply(event)
    journal.witness(event)
  }
  journal.settle(account)
}

interface Timing {
  /** Begun at 0, 10, 20, …; an answer takes this long. */
  readonly takes?: number
  readonly max?: number
  readonly since?: number
}

/** As one checks that has several under way. */
function checkHistory(
  heard: readonly Heard[],
  events: readonly EventSeen[],
  { takes = 5, max = 100, since = 0 }: Timing = {},
): void {
  const [account, history] = [new Account(), new History(max)]
  for (const [n, [command, answer]] of heard.entries()) {
    const told = history.begin(command, 10 * n)
    if (answer === 'refused') told.refuse()
    else if (answer !== 'lost') told.acknowledge(answer.answer, answer.wallet, told.begunAt + takes)
  }
  for (const event of events) account.apply(event)
  history.check(account, events, since)
}

const replaced = <T>(all: readonly T[], at: number, by: T): readonly T[] => all.with(at, by)

describe.each([
  ['one command after the other', checkJournal],
  ['several under way', checkHistory],
] as const)('a history of %s', (_name, check) => {
  it('that a legal order explains passes, whatever answers were lost', () => {
    check(HEARD, EVENTS)
    check(replaced(HEARD, 1, [opening(2), 'lost']), EVENTS)
    check([...HEARD, [opening(1), 'lost']], EVENTS)
    check([...HEARD, [opening(1), 'refused']], EVENTS)
    // The other match was quicker: the answer shows its effect as well.
    check(replaced(HEARD, 0, [opening(1), { answer: first, wallet: holds(2) }]), EVENTS)
  })

  const faults: readonly (readonly [string, readonly Heard[], readonly EventSeen[]])[] = [
    ['an acknowledged command without an effect', HEARD, EVENTS.slice(0, 2)],
    ['an effect that happened twice', HEARD, [...EVENTS, opened(4, position('again'))]],
    ['an effect of a refused command', replaced(HEARD, 1, [opening(2), 'refused']), EVENTS],
    ['an effect without a command', HEARD.slice(0, 1), [EVENTS[0] ?? opened(1, first), opened(2, second)]],
    ['a missing event', HEARD, [opened(1, first), closed(3, won)]],
    ['a repeated event', HEARD, [opened(1, first), opened(1, first), opened(2, second), closed(3, won)]],
    ['events in another order', HEARD, [opened(2, second), opened(1, first), closed(3, won)]],
    [
      'a wallet from before the command',
      replaced(HEARD, 1, [opening(2), { answer: second, wallet: holds(1) }]),
      EVENTS,
    ],
    [
      'a wallet that lost the update of the other match',
      replaced(HEARD, 2, [closing('first'), { answer: won, wallet: holds(0, 10 * UNIT) }]),
      EVENTS,
    ],
    [
      'a payout that is a micro too much',
      HEARD,
      replaced(EVENTS, 2, closed(3, { ...won, realizedPnl: 10 * UNIT + 1 })),
    ],
    [
      'an answer with another price than the event',
      replaced(HEARD, 0, [opening(1), { answer: { ...first, openPrice: PRICE + 1 }, wallet: holds(1) }]),
      EVENTS,
    ],
    ['a close of more than was opened', HEARD, replaced(EVENTS, 2, closed(3, { ...won, lotSize: 2 * UNIT }))],
    [
      'the effects of two commands in the wrong order',
      replaced(HEARD, 0, [opening(1), { answer: first, wallet: holds(2) }]),
      [opened(1, second), opened(2, first), closed(3, won)],
    ],
    ['a position that closes twice', [...HEARD, [closing('first'), 'lost']], [...EVENTS, closed(4, won)]],
  ]
  it.each(faults)('with %s is found', (_, heard, events) => {
    expect(() => check(heard, events)).toThrow(Violation)
  })
})

describe('a history of several under way', () => {
  const swapped: readonly EventSeen[] = [opened(1, second), opened(2, first)]
  const together: readonly Heard[] = [
    [opening(1), { answer: first, wallet: holds(2) }],
    [opening(2), { answer: second, wallet: holds(1) }],
  ]

  it('may have any order of those that were under way together', () => {
    checkHistory(together, swapped, { takes: 20 })
    expect(() => checkHistory(together, swapped, { takes: 5 })).toThrow('before another began')
  })

  it('leaves out what happened before it began, and what was not recorded', () => {
    checkHistory(HEARD.slice(1), EVENTS, { since: 1 })
    checkHistory(HEARD, EVENTS, { max: 1 })
    expect(() => checkHistory(HEARD.slice(0, 1), EVENTS)).toThrow('no command accounts')
  })
})
