/** Draws SVG as PNG, in a thread of the library's own. */
import { createRequire } from 'node:module'

const FONT = '@expo-google-fonts/barlow-condensed/600SemiBold/BarlowCondensed_600SemiBold.ttf'
/** The face of the page's headings; none of the machine's. */
const font = {
  loadSystemFonts: false,
  fontFiles: [createRequire(import.meta.url).resolve(FONT)],
  defaultFontFamily: 'Barlow Condensed',
}
/** Takes a core for some 30 ms. */
export async function picture(svg: string): Promise<Uint8Array<ArrayBuffer>> {
  // Loaded with the first picture: most processes draw none.
  const { renderAsync } = await import('@resvg/resvg-js')
  return new Uint8Array((await renderAsync(svg, { font })).asPng())
}
