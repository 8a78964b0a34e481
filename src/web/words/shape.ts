/** What a file of words must have: that of English says it. */
import type { en } from './en.ts'

/** Forms by number, under the names of `Intl.PluralRules`. */
export interface Forms {
  readonly one: string
  readonly other: string
}

type Same<T> = { readonly [K in keyof T]: T[K] extends string ? string : T[K] extends Forms ? Forms : Same<T[K]> }
/** What a file of words must have. */
export type Words = Same<typeof en>
