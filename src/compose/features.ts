/** Opens the features, in the order of their list. */
import type { Declared } from '../../db/setting-catalogue.ts'
import type { Feature, Host, Opened } from '../features/feature.ts'
import { FEATURES } from '../features/index.ts'

export const ERASERS = FEATURES.flatMap(({ erase = [] }) => erase)
export const RERANKERS = FEATURES.flatMap(({ rerank = [] }) => rerank)
export const DECLARED = Object.assign({}, ...FEATURES.map(({ settings }) => settings)) as Declared

export type OpenFeature = Feature & Opened

export async function openFeatures(host: Host): Promise<readonly OpenFeature[]> {
  const opened: OpenFeature[] = []
  for (const feature of FEATURES) opened.push({ ...feature, ...(await feature.open(host)) })
  return opened
}
