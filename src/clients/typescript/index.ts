/** The package for TypeScript and JavaScript: what the game's own page uses, and cookies for programs. */
export { ApiError, type ApiOptions, newKey } from '../../web/client/ask.ts'
export { type BoardName, createApi } from '../../web/client/api.ts'
export { Feed, type FeedOptions, type FeedState, type Followed } from '../../web/client/feed.ts'
export { decodePriceFrame, FLAG, PRICE_FRAME_BYTES, type PriceFrame } from '../../web/client/price-frame.ts'
export type * from '../../web/client/wire.ts'
export { fetchWithCookies } from './cookies.ts'
