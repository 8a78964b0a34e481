/** Starts the page. */
import { render } from 'preact'
import { App } from './app.ts'
import { html } from './html.ts'
import { startLive } from './live.ts'
import { followAddress } from './route.ts'

followAddress()
startLive()
const root = document.getElementById('app')
if (root !== null) render(html`<${App} />`, root)
