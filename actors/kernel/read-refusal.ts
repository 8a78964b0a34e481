/** Reads a stored refusal. */
import { positionId } from './ids.ts'
import { lots, money, price } from './micros.ts'
import { type Refusal, type RefusalCode, WINDOW_STATUSES } from './outcome.ts'
import { as, fieldsOf, integer, keyOf, nullable, oneOf, type Reader, text } from './read.ts'
import { instant } from './world.ts'

const CODES: Readonly<Record<RefusalCode, true>> = {
  not_found: true,
  market_closed: true,
  market_suspended: true,
  lot_size_invalid: true,
  price_moved: true,
  levels_invalid: true,
  position_limit: true,
  insufficient_margin: true,
  account_frozen: true,
  self_excluded: true,
  limit_reached: true,
  position_corrupt: true,
  position_not_open: true,
  cooldown_active: true,
  key_in_flight: true,
  key_reused: true,
  busy: true,
  unknown_outcome: true,
}

const readLots = as(integer, lots)
const readMoney = as(integer, money)
const readPrice = as(integer, price)

export const readRefusal: Reader<Refusal> = (value, path) => {
  const field = fieldsOf(value, path)
  const code = field('code', keyOf(CODES))
  switch (code) {
    case 'not_found':
      return { code, what: field('what', oneOf(['instrument', 'position', 'match'])) }
    case 'market_closed':
    case 'market_suspended':
      return { code, window: field('window', readWindow) }
    case 'lot_size_invalid':
      return { code, min: field('min', readLots), max: field('max', readLots), step: field('step', readLots) }
    case 'price_moved':
      return {
        code,
        currentPrice: field('currentPrice', readPrice),
        lastPublishedPrice: field('lastPublishedPrice', readPrice),
      }
    case 'levels_invalid':
      return { code, currentPrice: field('currentPrice', readPrice) }
    case 'position_limit':
      return { code, max: field('max', integer) }
    case 'insufficient_margin':
      return {
        code,
        required: field('required', readMoney),
        available: field('available', readMoney),
        maxLots: field('maxLots', readLots),
      }
    case 'self_excluded':
      return { code, until: field('until', as(integer, instant)) }
    case 'limit_reached':
      return {
        code,
        dailyLoss: field('dailyLoss', readMoney),
        lostToday: field('lostToday', readMoney),
        atStake: field('atStake', readMoney),
        required: field('required', readMoney),
        freeAt: field('freeAt', as(integer, instant)),
      }
    case 'position_not_open':
      return { code, positionId: field('positionId', as(text, positionId)) }
    case 'cooldown_active':
      return {
        code,
        retryAfterSecs: field('retryAfterSecs', integer),
        closableAt: field('closableAt', as(integer, instant)),
      }
    case 'busy':
    case 'unknown_outcome':
      return { code, retryAfterSecs: field('retryAfterSecs', integer) }
    case 'account_frozen':
    case 'position_corrupt':
    case 'key_in_flight':
    case 'key_reused':
      return { code }
  }
}

const readWindow: Reader<Extract<Refusal, { code: 'market_closed' }>['window']> = (value, path) => {
  const field = fieldsOf(value, path)
  return { status: field('status', oneOf(WINDOW_STATUSES)), reason: field('reason', nullable(text)) }
}
