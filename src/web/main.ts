/** Starts the page. What only a signed-in user needs is a file of its own, `game.ts`. */
import { render } from 'preact'
import { App } from './app.ts'
import { html } from './html.ts'
import { startRoving } from './roving.ts'

startRoving()
const root = document.getElementById('app')
if (root !== null) render(html`<${App} />`, root)

// Absent where the page has no TLS. Without the worker everything works but a start without a network.
window.addEventListener('load', () => void navigator.serviceWorker?.register('/worker.js').catch(() => undefined))
