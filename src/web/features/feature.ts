/** What a feature adds to the page. */
import type { ComponentType } from 'preact'

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
    readonly account?: readonly ComponentType[]
  }
  /** What it adds to notices that are about it. */
  readonly notices?: readonly ComponentType<NoticeProps>[]
  /** Sections of the control room. */
  readonly sections?: readonly ControlSection[]
}

export interface NoticeProps {
  readonly type: string
  /** Facts of the notice, by its type. */
  readonly data: Readonly<Record<string, unknown>>
}

export interface FeatureView {
  readonly name: string
  readonly label: string
  /** Lines in a square of 20 by 20, as in SVG. */
  readonly icon: string
  readonly Page: ComponentType
}

export interface ControlSection {
  /** The part of the address after `#/control/`. */
  readonly key: string
  readonly label: string
  /** Loaded on demand, since only admins need it. */
  readonly load: () => Promise<ComponentType>
}
