/** Drawings, 20 by 20, in the colour of the text around them. */
import { html } from '../html.ts'

export const ICONS = {
  match: 'M2 4h16v12H2zM10 4v12M10 8a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  market: 'M3 5h14M3 10h14M3 15h9',
  trade: 'M2 15h4v-5h4v3h4V5h4',
  positions: 'M4 4h12v12H4zM8 8h4M8 12h4',
  league: 'M6 3h8v5a4 4 0 0 1-8 0zM6 5H3v1a3 3 0 0 0 3 3M14 5h3v1a3 3 0 0 1-3 3M10 12v3M7 17h6',
  club: 'M10 2l2.3 4.9 5.2.7-3.8 3.7.9 5.3L10 14l-4.6 2.6.9-5.3L2.5 7.6l5.2-.7z',
  inbox: 'M10 3a5 5 0 0 0-5 5v3l-2 3h14l-2-3V8a5 5 0 0 0-5-5zM8 16a2 2 0 0 0 4 0',
  person: 'M10 3a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM3.5 17a6.5 6.5 0 0 1 13 0',
  control: 'M4 6h7M15 6h1M4 14h1M9 14h7M13 4v4M7 12v4',
  goal: 'M10 2a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM10 6.5l3.3 2.4-1.3 3.9H8L6.7 8.9zM10 2v4.5M13.3 8.9l4.3-1.4M12 12.8l2.7 3.7M8 12.8l-2.7 3.7M6.7 8.9L2.4 7.5',
  close: 'M5 5l10 10M15 5L5 15',
  search: 'M9 3a6 6 0 1 0 0 12A6 6 0 0 0 9 3zM13.5 13.5L17 17',
  sun: 'M10 6a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM10 1v2M10 17v2M1 10h2M17 10h2M3.6 3.6l1.4 1.4M15 15l1.4 1.4M16.4 3.6L15 5M5 15l-1.4 1.4',
  moon: 'M16.5 12.5A7 7 0 0 1 7.5 3.5a7 7 0 1 0 9 9z',
  out: 'M8 3H4v14h4M12 6l4 4-4 4M16 10H8',
} as const

/** Decoration: the text beside it has the same meaning. */
export const Icon = ({ name }: { name: keyof typeof ICONS }) => html`<${Drawing} path=${ICONS[name]} />`

/** The same of a path. */
export const Drawing = ({ path }: { path: string }) => html`
  <svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false"><path d=${path} /></svg>
`
