/** What a feature adds to the page. */
import type { ComponentType } from 'preact'
import type { Match, MatchEvent } from '../client/wire.ts'

/** A folder beside this file, of the name that the feature has on the server. */
export interface PageFeature {
  /** A view of its own, at `#/` and its name. */
  readonly view?: FeatureView
  /** Cards of other views. */
  readonly cards?: {
    /** Beside the boards. */
    readonly league?: readonly ComponentType[]
    /** Below the boards. */
    readonly ranks?: readonly ComponentType[]
    /** Beside the boards, after those of `league`. */
    readonly leagueEnd?: readonly ComponentType[]
    /** In the place of the boards, at `#/league/` and an id. */
    readonly leagueItem?: readonly ComponentType<{ id: string }>[]
    /** Beside the pitch. */
    readonly match?: readonly ComponentType<{ matchId: number }>[]
    /** Below the match, or in its place while there is none. */
    readonly fixtures?: readonly ComponentType[]
    /** Of a player, at each of its places. */
    readonly player?: readonly ComponentType<PlayerProps>[]
    /** In the result of a settled match. */
    readonly fullTime?: readonly ComponentType<FullTimeProps>[]
    readonly club?: readonly ComponentType[]
    readonly account?: readonly ComponentType[]
  }
  /** Lines across the chart of a player. */
  readonly lines?: (instrumentId: string) => readonly ChartLine[]
  /** Called with the price at which the chart of a player is tapped. */
  readonly tapped?: (instrumentId: string, price: number) => void
  /** In the bar at the top. */
  readonly bar?: readonly ComponentType[]
  readonly live?: LivePart
  /** What it adds to notices that are about it. */
  readonly notices?: readonly ComponentType<NoticeProps>[]
  /** Sections of the control room. */
  readonly sections?: readonly ControlSection[]
  /** Parts of its section of replays, loaded on demand. */
  readonly replays?: {
    /** Below those that are playing. */
    readonly card?: () => Promise<ComponentType>
    /** In the library of recordings. */
    readonly library?: () => Promise<ComponentType>
  }
}

export interface PlayerProps {
  readonly instrumentId: string
  /** `shirt`: on the pitch, inside a button. `sheet`: above the ticket that it opens. */
  readonly place: 'list' | 'chart' | 'shirt' | 'sheet'
}

export interface ChartLine {
  readonly key: string
  readonly price: number
  readonly title: string
}

export interface FullTimeProps {
  readonly match: Match
  readonly events: readonly MatchEvent[]
}

export interface NoticeProps {
  readonly type: string
  /** Facts of the notice, by its type. */
  readonly data: Readonly<Record<string, unknown>>
}

/** What a feature does with the live connection. */
export interface LivePart {
  /** Loads what it shows, when a user has signed in. */
  readonly begin: () => Promise<void>
  /** Handles a message of the account stream that is not an account event. */
  readonly take: (message: Readonly<Record<string, unknown>>) => void
}

export interface FeatureView {
  readonly name: string
  /** How the bars of the page name it. Absent where the feature shows the way itself. */
  readonly place?: {
    readonly label: string
    /** Lines in a square of 20 by 20, as in SVG. */
    readonly icon: string
  }
  readonly Page: ComponentType<ViewProps>
  /** The path of a link that people share to it; its group is the part of the address after the view. */
  readonly shared?: RegExp
}

export interface ViewProps {
  readonly features: readonly PageFeature[]
}

export interface ControlSection {
  /** The part of the address after `#/control/`. */
  readonly key: string
  readonly label: string
  /** Loaded on demand, since only admins need it. */
  readonly load: () => Promise<ComponentType>
  /** Whether a value of a setting can be tried there: `/` and key=value, both encoded, follow its address. */
  readonly triesSettings?: boolean
}
