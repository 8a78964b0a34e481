/** Draws SVG as PNG, in a thread of the library's own. */
import { createRequire } from 'node:module'

const FONT = '@expo-google-fonts/barlow-condensed/600SemiBold/BarlowCondensed_600SemiBold.ttf'
/** The face of the page's headings; none of the machine's. */
const font = {
  loadSystemFonts: false,
  fontFiles: [createRequire(import.meta.url).resolve(FONT)],
  defaultFontFamily: 'Barlow Condensed',
}
/** Pictures that are drawn at a time: each takes a core for some 30 ms. */
const DRAWING_MAX = 2
/** Those that wait. One more is refused. */
const WAITING_MAX = 50

const waiting: (() => void)[] = []
let drawing = 0

/** The picture, or null when too many are being drawn. */
export async function picture(svg: string): Promise<Uint8Array<ArrayBuffer> | null> {
  // Loaded with the first picture: most processes draw none.
  const { renderAsync } = await import('@resvg/resvg-js')
  if (drawing < DRAWING_MAX) drawing++
  else if (waiting.length >= WAITING_MAX) return null
  else await new Promise<void>((resolve) => waiting.push(resolve)) // takes the place of the one that ends
  try {
    return new Uint8Array((await renderAsync(svg, { font })).asPng())
  } finally {
    const next = waiting.shift()
    if (next === undefined) drawing--
    else next()
  }
}
