/** A recap as the API shows it. */
import { DIRECTIONS } from '../../../actors/position/position.ts'
import { ROLES, SIDES } from '../../../actors/market/fixture.ts'
import { z } from '@hono/zod-openapi'
import { ReasonBody } from '../../http/reason-schema.ts'
import {
  fixtureNumber,
  instrumentIdText,
  lotNumber,
  positionIdText,
  priceNumber,
  purseName,
  timestampText,
} from '../../http/schemas.ts'

const units = (example: number, description?: string) =>
  z.number().openapi({ example, ...(description === undefined ? {} : { description }) })

export const RecapTradeBody = z
  .object({
    positionId: positionIdText,
    instrumentId: instrumentIdText,
    player: z.string().openapi({ example: 'Mara Lind' }),
    direction: z.enum(DIRECTIONS),
    lotSize: lotNumber,
    openPrice: priceNumber.openapi({ example: 200 }),
    closePrice: priceNumber.openapi({ example: 206.31 }),
    openedAt: timestampText,
    closedAt: timestampText,
    pnl: units(31.55),
    moved: z
      .object({
        at: timestampText,
        from: priceNumber.openapi({ example: 200 }),
        to: priceNumber.openapi({ example: 205.8 }),
        reason: ReasonBody,
        sentence: z.string().openapi({ example: 'Scored in the 34th minute: +2.9 %.' }),
      })
      .nullable()
      .openapi({ description: 'The largest move of its price while it was open; null if it is no longer stored.' }),
  })
  .openapi('RecapTrade')

export const MoverBody = z.object({
  instrumentId: instrumentIdText,
  player: z.string().openapi({ example: 'Mara Lind' }),
  side: z.enum(SIDES),
  from: priceNumber.openapi({ example: 200 }),
  to: priceNumber.openapi({ example: 231.4 }),
})

const place = z.int().nullable().openapi({ example: 112 })

export const RecapBody = z
  .object({
    purse: purseName,
    matchId: fixtureNumber.nullable(),
    week: z.string().nullable().openapi({ description: 'By its ISO 8601 name.', example: null }),
    title: z.string().openapi({ example: 'Harbour 2–1 Hill' }),
    from: timestampText.openapi({ description: 'The first opening in the match, or the beginning of the week.' }),
    to: timestampText,
    final: z
      .boolean()
      .openapi({ description: 'False while the match is not settled, or the week not over.', example: true }),
    start: units(10_000, 'What the purse was worth at `from`, every open position at its margin.'),
    result: units(31.55, 'Σ of what all closes have booked, void ones too.'),
    trades: z.int().openapi({ description: 'Closes that count.', example: 4 }),
    wins: z.int().openapi({ example: 3 }),
    curve: z.array(z.object({ at: timestampText, value: units(10_031.55) })).openapi({
      description:
        'The worth of the purse by these positions alone, at most 200 points. Of a week: at the beginning, and after ' +
        'each close. Of a match: about once a minute, open positions at the price then.',
    }),
    best: z.union([RecapTradeBody, z.null()]),
    worst: z.union([RecapTradeBody, z.null()]),
    rank: z
      .object({
        before: place,
        after: place,
        passed: z.array(z.string().openapi({ example: 'leo' })).openapi({
          description:
            'Usernames of at most three who were ahead before and are behind now, the nearest first. Of a match on the ' +
            'board, among those who have closed a position in it; of a week on the board, none.',
        }),
      })
      .nullable()
      .openapi({
        description:
          'On the board by return, or in the league by what is realised: without these closes, and with them. Null until ' +
          'a few minutes after the match is settled, for those without a place, and once an operator has voided one of ' +
          'the closes.',
      }),
    movers: z.array(MoverBody).openapi({
      description: 'The five players whose price a settled match moved most, from its beginning to its end.',
    }),
  })
  .openapi('Recap')

const sums = {
  trades: z.int().openapi({ description: 'Closed positions that count.', example: 4 }),
  wins: z.int().openapi({ example: 3 }),
  losses: z.int().openapi({ example: 1 }),
  pnl: units(31.55, 'Of whole positions, with what their parts have booked before `from`.'),
  margin: units(420, 'Σ of their margins.'),
  averageWin: z.number().nullable().openapi({ example: 14.2 }),
  averageLoss: z.number().nullable().openapi({ description: 'Negative.', example: -11.05 }),
}

export const RecordBody = z
  .object({
    purse: purseName,
    from: timestampText,
    to: timestampText,
    total: z.object(sums),
    curve: z.array(z.object({ at: timestampText, value: units(10_031.55) })).openapi({
      description:
        'The worth of the purse by what these positions booked from `from` on, after each close: 200 points.',
    }),
    best: z.union([RecapTradeBody, z.null()]),
    worst: z.union([RecapTradeBody, z.null()]),
    byPlayer: z
      .array(
        z.object({ instrumentId: instrumentIdText, player: z.string().openapi({ example: 'Mara Lind' }), ...sums }),
      )
      .openapi({ description: 'At most 100, those who gained or lost most first.' }),
    byRole: z.array(z.object({ role: z.enum(ROLES), ...sums })),
    byDirection: z.array(z.object({ direction: z.enum(DIRECTIONS), ...sums })),
    byTimeHeld: z.array(
      z.object({
        underSecs: z.int().nullable().openapi({
          description: 'Held for less than this; the one before is the minimum. Null: an hour or more.',
          example: 300,
        }),
        ...sums,
      }),
    ),
    byMonth: z
      .array(z.object({ month: z.string().openapi({ example: '2026-05' }), ...sums }))
      .openapi({ description: 'By when they were closed, in UTC; oldest first.' }),
  })
  .openapi('TradingRecord')
