/** Every feature. One may import from those before it, and nothing else imports from any. */
import type { Feature } from './feature.ts'
import { integrity } from './integrity/index.ts'
import { leagues } from './leagues/index.ts'
import { legacy } from './legacy/index.ts'
import { matchBoard } from './match-board/index.ts'
import { notifications } from './notifications/index.ts'
import { playerProfile } from './player-profile/index.ts'
import { push } from './push/index.ts'
import { recaps } from './recaps/index.ts'
import { referrals } from './referrals/index.ts'
import { seasons } from './seasons/index.ts'
import { spinner } from './spinner/index.ts'
import { tape } from './tape/index.ts'
import { tournaments } from './tournaments/index.ts'
import { uploads } from './uploads/index.ts'
import { watchlist } from './watchlist/index.ts'
import { webhooks } from './webhooks/index.ts'
import { whatIf } from './what-if/index.ts'

export const FEATURES: readonly Feature[] = [
  leagues,
  seasons,
  tournaments,
  recaps,
  playerProfile,
  matchBoard,
  spinner,
  notifications,
  watchlist,
  referrals,
  legacy,
  webhooks,
  push,
  whatIf,
  uploads,
  integrity,
  tape,
]
