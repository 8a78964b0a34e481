/** Pictures to share, 1,200 × 630, the size that networks show beside a link: drawn as SVG, and turned into PNG. */
import { createRequire } from 'node:module'

const WIDTH = 1_200
const HEIGHT = 630
const EDGE = 72
export const INK = '#f2f5ee'
export const SOFT = '#a9bdb0'
export const LIME = '#d6f24f'
export const RED = '#ff8f7a'
/** Where a curve is drawn. */
export const PLOT = { left: 640, right: WIDTH - EDGE, top: 210, bottom: 420 } as const
/** Characters of a line; longer names are cut. */
const LINE_MAX = 46

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Text within the picture. Control characters have no place in XML. */
const text = (words: string): string =>
  cut(words.replaceAll(/\p{C}/gu, '')).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

const cut = (words: string): string => {
  const characters = Array.from(words)
  return characters.length <= LINE_MAX ? words : `${characters.slice(0, LINE_MAX - 1).join('')}…`
}

/** A picture of these parts. Its label is for those who cannot see it. It refers to nothing outside itself. */
export const framed = (label: string, parts: readonly string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" ` +
  `role="img" aria-label="${text(label)}"><rect width="${WIDTH}" height="${HEIGHT}" fill="#12352a"/>${stripes()}` +
  `${line({ y: 96, size: 30, colour: LIME, words: 'TOUCHLINE' })}${parts.join('')}</svg>\n`

function stripes(): string {
  const every = 200
  const at = Array.from({ length: WIDTH / every / 2 }, (_, n) => (2 * n + 1) * every)
  return at.map((x) => `<rect x="${x}" width="${every}" height="${HEIGHT}" fill="#153b2f"/>`).join('')
}

interface Line {
  readonly y: number
  readonly size: number
  readonly colour: string
  readonly words: string
}

export const line = ({ y, size, colour, words }: Line): string =>
  `<text x="${EDGE}" y="${y}" font-family="Barlow Condensed, Arial Narrow, sans-serif" font-weight="600" ` +
  `font-size="${size}" fill="${colour}">${text(words)}</text>`

const FONT = '@expo-google-fonts/barlow-condensed/600SemiBold/BarlowCondensed_600SemiBold.ttf'
/** The face of the page's headings; none of the machine's. */
const font = {
  loadSystemFonts: false,
  fontFiles: [createRequire(import.meta.url).resolve(FONT)],
  defaultFontFamily: 'Barlow Condensed',
}
/** Takes a core for some 30 ms. */
export async function picture(svg: string): Promise<Uint8Array<ArrayBuffer>> {
  // Loading it asks Node for a report of this process, to learn the C library. That looks up the name of every open
  // connection, one after the other, while everything else stands still: of 20 clients without a name, for 5 seconds.
  Object.assign(process.report, { excludeNetwork: true })
  // Loaded with the first picture: most processes draw none.
  const { renderAsync } = await import('@resvg/resvg-js')
  return new Uint8Array((await renderAsync(svg, { font })).asPng())
}
