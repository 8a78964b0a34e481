/**
 * The words of the page in the language of its user: the chosen one, else the browser's, else English. A choice is
 * taken with the next load of the page, so words are constants.
 */
import { en } from './words/en.ts'
import type { Forms, Words } from './words/shape.ts'
import { device } from './storage.ts'

/** Each under its own name. English comes with the page, the others when they are wanted. */
export const LANGUAGES = {
  en: { name: 'English', load: async (): Promise<Words> => en },
  es: { name: 'Español', load: async (): Promise<Words> => (await import('./words/es.ts')).es },
}
type Language = keyof typeof LANGUAGES

const KEY = 'touchline.language'
const wanted = [device.get(KEY), ...navigator.languages]
const isLanguage = (name: string | undefined): name is Language => name !== undefined && Object.hasOwn(LANGUAGES, name)

const wished = wanted.map((tag) => tag?.split('-')[0]).find(isLanguage) ?? 'en'
/** Null where its file does not arrive: English is better than no page. */
const loaded = await LANGUAGES[wished].load().catch(() => null)

export const language: Language = loaded === null ? 'en' : wished
export const words = loaded ?? en
/** For numbers and times: the user's own region where it speaks the language. */
export const locale = navigator.languages.find((tag) => tag.split('-')[0] === language) ?? language

document.documentElement.lang = language

export function chooseLanguage(chosen: string): void {
  device.set(KEY, chosen)
  location.reload()
}

/** The words of a feature. */
export const wordsOf = <Said>(said: Readonly<Record<Language, Said>>): Said => said[language]

const whole = new Intl.NumberFormat(locale)
const rules = new Intl.PluralRules(language)

/** 1,234.5, with at most three decimals */
export const number = (n: number): string => whole.format(n)

type Fact = string | number

/** The sentence with these facts in the place of their names. */
export const say = (sentence: string, facts: Readonly<Record<string, Fact>>): string =>
  sentence.replace(/\{(\w+)\}/g, (name, key: string) => {
    const fact = facts[key]
    return typeof fact === 'number' ? number(fact) : (fact ?? name)
  })

/** The same for facts that are elements of the page. */
export const rich = (sentence: string, facts: Readonly<Record<string, unknown>>): readonly unknown[] =>
  sentence.split(/\{(\w+)\}/).map((part, at) => {
    const fact = at % 2 === 0 ? part : facts[part]
    return typeof fact === 'number' ? number(fact) : fact
  })

/** The form for this number, which is `{n}` in it. */
export const plural = (n: number, forms: Forms, facts: Readonly<Record<string, Fact>> = {}): string =>
  say(rules.select(n) === 'one' ? forms.one : forms.other, { ...facts, n })
