/** The strings files of the page say the same things: every key, every form, every fact. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { BADGES } from '../../actors/community/badges.ts'
import { REASONS } from '../../actors/market/reason-words.ts'
import { DISCRETE } from '../../actors/market/scoring.ts'
import { en } from '../../src/web/words/en.ts'
import { es } from '../../src/web/words/es.ts'
import { stubPage } from '../support/page-globals.ts'

const leaves = (of: object, path = ''): readonly (readonly [string, string])[] =>
  Object.entries(of).flatMap(([key, value]) =>
    typeof value === 'string' ? [[`${path}${key}`, value] as const] : leaves(value, `${path}${key}.`),
  )
const factsOf = (sentence: string): readonly string[] =>
  [...sentence.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '').toSorted()

const FOLDER = join(import.meta.dirname, '../../src/web/features')
/** The words of a feature, by its name. */
async function wordsOf(feature: string): Promise<{ readonly en: object; readonly es: object }> {
  const path = join(FOLDER, feature, 'words.ts')
  if (!existsSync(path)) return { en: {}, es: {} }
  const { said } = (await import(path)) as { readonly said: { readonly en: object; readonly es: object } }
  return { en: { [feature]: said.en }, es: { [feature]: said.es } }
}
const features = await Promise.all(readdirSync(FOLDER).map(wordsOf))
const english = new Map([en, ...features.map((one) => one.en)].flatMap((all) => leaves(all)))
const spanish = new Map([es, ...features.map((one) => one.es)].flatMap((all) => leaves(all)))

it('both languages have the same sentences, with the same facts in them', () => {
  expect([...spanish.keys()].toSorted()).toEqual([...english.keys()].toSorted())
  const differ = [...english].filter(([key, sentence]) => {
    // A number may be a word of its own, as in “only you”.
    const [here, there] = [sentence, spanish.get(key) ?? ''].map((of) => factsOf(of).filter((fact) => fact !== 'n'))
    return JSON.stringify(here) !== JSON.stringify(there)
  })
  expect(differ).toEqual([])
})

it('what a position costs has one name: the stake', () => {
  const others = [...english, ...spanish].filter(([, sentence]) => /margin|margen/i.test(sentence))
  expect(others).toEqual([])
})

it('the translation is one', () => {
  const same = [...english].filter(
    ([key, sentence]) => sentence.replaceAll(/\{\w+\}/g, '').length > 20 && spanish.get(key) === sentence,
  )
  expect(same).toEqual([])
})

it('a number reads the same in each region that speaks Spanish', () => {
  // A point or a comma parts thousands in one and decimals in another.
  expect([...spanish].filter(([, sentence]) => /\d[.,]\d/.test(sentence))).toEqual([])
})

it('whatever the server tells by a key has words', () => {
  expect(Object.keys(en.badges).toSorted()).toEqual(BADGES.map(({ id }) => id).toSorted())
  expect(Object.keys(en.moves).toSorted()).toEqual([...REASONS].toSorted())
  expect(Object.keys(en.actions).toSorted()).toEqual([...DISCRETE].toSorted())
  for (const { id, name, description } of BADGES)
    expect(Object.entries(en.badges)).toContainEqual([id, { name, description }])
  const reasons = [...readFileSync('actors/match/suspension.ts', 'utf8').matchAll(/(?:suspended|closed)\('([^']+)'\)/g)]
  expect(reasons.length).toBeGreaterThan(8)
  for (const [, reason] of reasons) expect(Object.keys(en.windows)).toContain(reason)
})

it('the page is in English where the file of its language does not arrive', async () => {
  stubPage('es')
  vi.doMock('../../src/web/words/es.ts', () => Promise.reject(new Error('offline')))
  onTestFinished(() => {
    vi.doUnmock('../../src/web/words/es.ts')
    vi.unstubAllGlobals()
  })
  // A module of its own: other tests have those of other languages. Its types are those of a browser.
  const path: string = '../../src/web/words.ts?offline'
  expect(await import(path)).toMatchObject({ language: 'en', words: { nav: en.nav } })
})
