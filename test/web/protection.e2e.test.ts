/** What the page says of fills that may still move (actors/match/protection). */
import { expect, it, onTestFinished } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { launch } from '../../ops/page/browser.ts'
import { complaintsOf, hasBrowser } from '../support/browser.ts'
import { embeddedPlace } from '../support/data-place.ts'
import { PATIENCE } from '../support/process.ts'
import { buys, openMatch, scores } from '../support/protected-match.ts'

/** Where to keep screenshots, for people to look at. */
const SHOTS = process.env['SHOTS']

it.skipIf(!hasBrowser)('the page says until when a fill may move, from what to what it has, and why', async () => {
  const [rig, browser] = [await openMatch(await embeddedPlace(), 'on'), await launch()]
  onTestFinished(async () => {
    await browser.close()
    await rig.close()
  })
  const closers = await Promise.all(['en', 'es'].map((language) => rig.user(`Ada ${language}`)))
  const ids: string[] = []
  for (const ada of closers) ids.push((await buys(ada)).id)
  await rig.jump(50)
  for (const [n, ada] of closers.entries()) {
    const id = present(ids[n], 'position')
    expect((await ada.close(id, id)).status).toBe(200)
  }
  await buys(present(closers[0], 'user'))
  const visit = async (n: number, locale: string) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale })
    const ada = present(closers[n], 'user')
    const cookies = ['game_access', 'game_refresh'].map((name) => ({ name, value: ada.cookie(name), url: rig.url }))
    await context.addCookies(cookies)
    const page = await context.newPage()
    page.setDefaultTimeout(PATIENCE.timeout)
    const complaints = complaintsOf(page, [new URL(rig.url).origin])
    await page.goto(`${rig.url}/#/positions`)
    const turns = (to: RegExp) => page.getByRole('button', { name: to }).click()
    const says = (what: RegExp) => page.locator('.moves').getByText(what).waitFor()
    return { page, complaints, turns, says }
  }
  const [english, spanish] = [await visit(0, 'en'), await visit(1, 'es')]
  await english.says(/^\s*Price may follow news until \d+:\d\d:\d\d/)
  for (const { turns } of [english, spanish]) await turns(/^(Closed|Cerradas)/)
  await english.says(/^\s*Price may follow news until \d+:\d\d:\d\d/)
  await spanish.says(/^\s*El precio puede seguir a las noticias\. Fin: \d+:\d\d:\d\d/)
  await scores(rig)
  await english.says(/^\s*Exit \d+\.\d\d → \d+\.\d\d: news on the pitch · +Price may follow news until \d/)
  await spanish.says(
    /^\s*Salida \d+,\d\d → \d+,\d\d: noticia del partido · +El precio puede seguir a las noticias\. Fin: \d/,
  )
  await english.page
    .locator('.toasts')
    .getByText(/^Entry \d+\.\d\d → \d+\.\d\d: news on the pitch$/)
    .waitFor()
  await english.turns(/^Open 1$/)
  await english.says(/^\s*Entry \d+\.\d\d → \d+\.\d\d: news on the pitch · +Price may follow news until \d/)
  for (const [n, { page, complaints }] of [english, spanish].entries()) {
    if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/moves-${n}.png` })
    expect(complaints).toEqual([])
  }
})
