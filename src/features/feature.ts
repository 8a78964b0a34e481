/** What a feature is, and what it is given. */
import type { Reranker } from '../../db/board-changes.ts'
import type { Section } from '../../db/data-export.ts'
import type { Eraser } from '../../db/deletions.ts'
import type { EventStream } from '../../db/event-stream.ts'
import type { Declared } from '../../db/setting-catalogue.ts'
import type { RealTime } from '../../rooms/boot.ts'
import type { Accounts } from '../compose/accounts.ts'
import type { Base } from '../compose/base.ts'
import type { Community } from '../compose/community.ts'
import type { Market } from '../compose/market.ts'
import type { Observation } from '../compose/observation.ts'
import type { Stores } from '../compose/stores.ts'
import type { Task } from '../compose/task-runner.ts'
import type { ApiPart } from '../http/api-part.ts'
import type { LeaguePurses } from '../http/league-purses.ts'
import type { RecordingLibrary } from '../replays/library.ts'

/** The parts of the server that are there without any feature. */
export interface Host extends Base {
  readonly stores: Stores
  readonly market: Market
  readonly accounts: Accounts
  readonly observation: Observation
  readonly realTime: RealTime
  readonly community: Community
  readonly stream: EventStream
  /** The recordings that can be played. */
  readonly library: RecordingLibrary
}

/** A folder of `src/features`, with a line in `index.ts` there. */
export interface Feature extends Pick<ApiPart, 'errors' | 'topics' | 'things' | 'cached' | 'bodies' | 'deprecated'> {
  /** Of its folder. */
  readonly name: string
  /** What operators may change of it. The keys begin with its name. */
  readonly settings?: Declared
  /** What a user can download of its tables. */
  readonly exported?: readonly Section[]
  /** Its tables that are not downloaded, and why. */
  readonly notExported?: Readonly<Record<string, string>>
  /** Erases what its tables hold of a person who has left. */
  readonly erase?: Eraser
  /** Ranks again where a user has a place who is taken off the boards, or put back. */
  readonly rerank?: Reranker
  /** Called once, after the features listed before it. Adds to `host.lifecycle` what has to be started or stopped. */
  readonly open: (host: Host) => Promise<Opened> | Opened
}

/** What a feature does in this process. */
export interface Opened extends Pick<ApiPart, 'routes' | 'shares'> {
  readonly tasks?: readonly Task[]
  /** One feature at most has these. */
  readonly purses?: LeaguePurses
}
