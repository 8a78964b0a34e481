/** Starts the page. */
import { render } from 'preact'
import { keepAddress } from './address.ts'
import { App } from './app.ts'
import { PAGE_FEATURES } from './features/index.ts'
import { html } from './html.ts'
import { startLive } from './live.ts'
import { startRoving } from './roving.ts'
import { followAddress } from './route.ts'
import { startShortcuts } from './shortcuts.ts'
import './style.css'

followAddress(PAGE_FEATURES.flatMap(({ view }) => view?.name ?? []))
startRoving()
startLive()
keepAddress()
startShortcuts()
const root = document.getElementById('app')
if (root !== null) render(html`<${App} />`, root)

// Absent where the page has no TLS. Without the worker everything works but a start without a network.
window.addEventListener('load', () => void navigator.serviceWorker?.register('/worker.js').catch(() => undefined))
