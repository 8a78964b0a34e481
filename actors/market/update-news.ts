/** What an update shows first about its players, and whom it leaves waiting for the other source. */
import type { PlayerId } from '../kernel/ids.ts'
import type { FixtureSnapshot, PlayerRole, Side } from './fixture.ts'
import type { Incident, MatchNews } from './incidents.ts'
import {
  concedes,
  type Concerned,
  type Differences,
  differencesOf,
  isNews,
  namedBy,
  type PlayerNews,
  type ReportedCounts,
  rowsBehind,
} from './news.ts'
import { isBeforeBreak, type LastBreak, minuteStart } from './play-time.ts'
import type { Counts } from './scoring.ts'

/** A player's counts before and after an update. */
interface Reported {
  readonly player: Concerned
  readonly before: { readonly listed: Counts; readonly counts: Counts; readonly excused: Differences }
  readonly now: { readonly listed: Counts; readonly counts: Counts }
}

/** What came with the update. */
export interface Arrived {
  readonly snapshot: FixtureSnapshot
  readonly incidents: readonly Incident[]
  readonly remembered: readonly Incident[]
  readonly news: readonly MatchNews[]
  readonly clockSecs: number
  readonly isPaused: boolean
  readonly lastBreak: LastBreak
}

interface Waits {
  readonly playerNews: Map<PlayerId, PlayerNews>
  /** The players about whom list and statistics disagree. */
  readonly unsettled: Set<PlayerId>
}

export function newsOf(cast: readonly Reported[], arrived: Arrived): Waits {
  const waits: Waits = { playerNews: new Map(), unsettled: new Set() }
  const behind = new Set<Side>()
  for (const { player, before, now } of cast) {
    const reported: ReportedCounts = { listed: now.listed, stated: now.counts, excused: before.excused }
    const differences = differencesOf(player.role, reported)
    if (differences['conceded'] !== undefined) behind.add(player.side)
    if (Object.keys(differences).length > 0) waits.unsettled.add(player.playerId)
    const named = namedBy(arrived.news, player.playerId)
    if (named === null && !isNews(player.role, { ...before, stated: before.counts }, reported)) continue
    waits.playerNews.set(player.playerId, newsAbout(player, named, arrived))
  }
  for (const side of behind) {
    const own = cast.filter(({ player }) => player.side === side).map(({ player }) => player)
    const ids = (of: (role: PlayerRole) => boolean): readonly PlayerId[] =>
      own.filter(({ role }) => of(role)).map(({ playerId }) => playerId)
    const isKeeper = (role: PlayerRole): boolean => role === 'GK'
    waitWithKeeper(
      ids(isKeeper),
      ids((role) => !isKeeper(role) && concedes(role)),
      waits,
    )
  }
  return waits
}

function newsAbout(player: Concerned, named: MatchNews | null, arrived: Arrived): PlayerNews {
  const { snapshot, incidents, remembered, clockSecs, isPaused, lastBreak } = arrived
  const { changed, latest } = rowsBehind(player, named, incidents, remembered)
  const [row] = changed
  return {
    eventId: named?.eventId ?? row?.id ?? latest?.id ?? 0,
    firstIds: changed.map(({ firstId }) => firstId),
    ageSecs: row === undefined ? 0 : clockSecs - minuteStart(row, snapshot.periods, clockSecs),
    pausedMs: row !== undefined && isBeforeBreak(row, snapshot.periods, isPaused) ? lastBreak.ms : 0,
    names: named?.wholeMatch !== true,
    isPenalty: changed.some(({ kind }) => kind === 'penalty_goal' || kind === 'penalty_missed'),
  }
}

/** A side concedes together, and the statistics tell of its keeper only: the others wait with them. */
function waitWithKeeper(
  keepers: readonly PlayerId[],
  others: readonly PlayerId[],
  { playerNews, unsettled }: Waits,
): void {
  const news = keepers.map((id) => playerNews.get(id)).find((one) => one !== undefined)
  for (const id of others) {
    unsettled.add(id)
    if (news !== undefined && !playerNews.has(id)) playerNews.set(id, news)
  }
}
