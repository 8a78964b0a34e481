/** Every feature of the page: the folders beside this file, by name. Written by `npm run ops -- client-generate`. */
import type { PageFeature } from './feature.ts'
import { spinner } from './spinner/index.ts'
import { whatIf } from './what-if/index.ts'

export const PAGE_FEATURES: readonly PageFeature[] = [spinner, whatIf]
