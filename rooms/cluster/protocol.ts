/** Every message between processes: the requests with their answers, the topics, and the version of them all. */
import { z } from 'zod'
import { FixtureId as MatchId } from '../../actors/codec/fixture.ts'
import type { FixtureId, PositionId, SessionId, UserId } from '../../actors/kernel/ids.ts'
import type { Outcome } from '../../actors/kernel/outcome.ts'
import type { Ending, FeedUpdate, Trade, UserCommand } from '../../actors/match/messages.ts'
import type { QuoteAnswer, QuoteQuery } from '../../actors/match/quotes.ts'
import type { ConsideredSetting, RuleEffect } from '../../actors/match/rule-change.ts'
import type { Notice } from '../feed/account-stream.ts'
import type { Bus, ProcessId, Protocol } from './bus.ts'
import { type Read, readerOf } from './envelope.ts'
import {
  Command,
  FeedUpdateMessage,
  PositionId as Position,
  QuoteOutcome,
  QuoteQueryMessage,
  RuleEffectMessage,
  SessionId as Session,
  TradeOutcome,
  UserId as User,
} from './readers.ts'

/** The state of a match in a process that was asked to run it. */
export type Activity = 'active' | 'unknown' | 'settled' | 'elsewhere'
/** What a match made of a feed update. `elsewhere`: it does not run in that process; offer the update again. */
export type Fed = 'applied' | 'dropped' | 'elsewhere'

/** The result of an attempt to end a match. `over`: it is settling or settled. `elsewhere`: it was not reached. */
export type Ended = 'ending' | 'over' | 'unknown' | 'elsewhere'

/**
 * The result of an attempt to void an open position. `closed`: it is not open in the match. `elsewhere`: the match was
 * not reached.
 */
export type Voided = 'voided' | 'closed' | 'elsewhere'

/** A seat in a match room, or the reason for refusing one, as an HTTP answer. */
export interface SeatAnswer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** All prices of a match as of one move. */
export interface CurrentPrices {
  readonly epoch: number
  readonly seq: number
  /** Price frames, one after the other, in base64. */
  readonly frames: string
}

/** Every request is about one match. The answer null says that the match does not run in that process. */
interface Exchange<Request, Answer> {
  readonly request: Request & { readonly matchId: FixtureId }
  readonly answer: Answer | null
}

/** By kind. */
export interface Requests {
  readonly command: Exchange<{ readonly command: UserCommand; readonly leftMs: number }, Outcome<Trade>>
  readonly quote: Exchange<{ readonly query: QuoteQuery }, Outcome<QuoteAnswer>>
  readonly end: Exchange<{ readonly ending: Ending }, Ended>
  readonly void: Exchange<{ readonly positionId: PositionId }, Voided>
  readonly effect: Exchange<{ readonly setting: ConsideredSetting }, RuleEffect>
  readonly seat: Exchange<{ readonly userId: UserId; readonly sessionId: SessionId }, SeatAnswer>
  readonly reconnect: Exchange<{ readonly reconnectionToken: string }, SeatAnswer>
  readonly prices: Exchange<object, CurrentPrices>
  /** To all processes that run matches: one of them activates the match. */
  readonly wake: Exchange<object, { readonly activity: Exclude<Activity, 'elsewhere'>; readonly owner: ProcessId }>
  /**
   * To the owner; or to all processes that run matches, and then one of them activates the match (`isPlaced` false).
   */
  readonly feed: Exchange<{ readonly update: FeedUpdate; readonly isPlaced: boolean }, Fed>
}

export type RequestOf<K extends keyof Requests> = Requests[K]['request']
export type AnswerOf<K extends keyof Requests> = NonNullable<Requests[K]['answer']>

/** What a match answers in the process that runs it. */
export const MATCH_KINDS = ['command', 'quote', 'effect', 'end', 'void'] as const
export type MatchKind = (typeof MATCH_KINDS)[number]

/** A process has started or stopped to run a match under this epoch. */
export interface MatchNews {
  readonly news: 'opened' | 'closed'
  readonly from: ProcessId
  readonly matchId: FixtureId
  readonly epoch: number
}

/** By topic. */
export interface Topics {
  readonly matches: MatchNews
  /** Users whose account logs have new entries. */
  readonly accounts: readonly UserId[]
  readonly notices: { readonly userId: UserId; readonly notice: Notice }
  readonly 'signed-out': UserId
  /** The sender finds this process gone; others should look. */
  readonly missed: ProcessId
  /** The leases of this process have expired: its matches wait for another. */
  readonly orphaned: ProcessId
}

/**
 * The frames of one match. They are bytes with a version and a checksum of their own, and travel without an envelope.
 */
export const priceTopic = (matchId: FixtureId): string => `prices:${matchId}`

export type ClusterBus = Bus<Requests, Topics>

const about = <S extends z.ZodRawShape>(fields: S) => z.object({ matchId: MatchId, ...fields })

const exchange = <Q, A>(request: z.ZodType<Q>, answer: z.ZodType<A>): { request: Read<Q>; answer: Read<A | null> } => ({
  request: readerOf(request),
  answer: readerOf(answer.nullable()),
})

const process = z.string().min(1)
const count = z.int().nonnegative()
const Seat = z.object({
  status: z.int().min(200).max(599),
  body: z.unknown(),
  headers: z.record(z.string(), z.string()).optional(),
})

export const PROTOCOL: Protocol<Requests, Topics> = {
  versions: { oldest: 1, newest: 2 },
  requests: {
    command: exchange(about({ command: Command, leftMs: z.number().nonnegative() }), TradeOutcome),
    quote: exchange(about({ query: QuoteQueryMessage }), QuoteOutcome),
    end: exchange(about({ ending: z.enum(['full_time', 'void']) }), z.enum(['ending', 'over', 'unknown', 'elsewhere'])),
    void: exchange(about({ positionId: Position }), z.enum(['voided', 'closed', 'elsewhere'])),
    effect: exchange(
      about({ setting: z.object({ key: z.string(), value: z.union([z.number(), z.boolean(), z.string()]) }) }),
      RuleEffectMessage,
    ),
    seat: exchange(about({ userId: User, sessionId: Session }), Seat),
    reconnect: exchange(about({ reconnectionToken: z.string() }), Seat),
    prices: exchange(about({}), z.object({ epoch: count, seq: count, frames: z.base64() })),
    wake: exchange(about({}), z.object({ activity: z.enum(['active', 'unknown', 'settled']), owner: process })),
    feed: exchange(
      about({ update: FeedUpdateMessage, isPlaced: z.boolean() }),
      z.enum(['applied', 'dropped', 'elsewhere']),
    ),
  },
  topics: {
    matches: readerOf(z.object({ news: z.enum(['opened', 'closed']), from: process, matchId: MatchId, epoch: count })),
    accounts: readerOf(z.array(User)),
    notices: readerOf(z.object({ userId: User, notice: z.looseObject({ type: z.string() }) })),
    'signed-out': readerOf(User),
    missed: readerOf(process),
    orphaned: readerOf(process),
  },
}
