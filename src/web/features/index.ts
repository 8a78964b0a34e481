/** Every feature of the page: the folders beside this file, by name. Written by `npm run ops -- client-generate`. */
import type { PageFeature } from './feature.ts'
import { leagues } from './leagues/index.ts'
import { matchBoard } from './match-board/index.ts'
import { notifications } from './notifications/index.ts'
import { playerProfile } from './player-profile/index.ts'
import { push } from './push/index.ts'
import { recaps } from './recaps/index.ts'
import { referrals } from './referrals/index.ts'
import { seasons } from './seasons/index.ts'
import { spinner } from './spinner/index.ts'
import { tournaments } from './tournaments/index.ts'
import { uploads } from './uploads/index.ts'
import { watchlist } from './watchlist/index.ts'
import { webhooks } from './webhooks/index.ts'
import { whatIf } from './what-if/index.ts'

export const PAGE_FEATURES: readonly PageFeature[] = [
  leagues,
  matchBoard,
  notifications,
  playerProfile,
  push,
  recaps,
  referrals,
  seasons,
  spinner,
  tournaments,
  uploads,
  watchlist,
  webhooks,
  whatIf,
]
