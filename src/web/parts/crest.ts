/** The crest of a team, drawn from its colours. Decoration: the name stands beside it. */
import { html } from '../html.ts'
import type { Kit } from '../kits.ts'

const SHIELD = 'M2 3h28v17c0 9-7 14-14 17C9 34 2 29 2 20z'
const PATTERNS: Readonly<Record<Kit['pattern'], string>> = {
  plain: '',
  halves: 'M16 0h16v40H16z',
  stripes: 'M6 0h5v40H6zM21 0h5v40h-5z',
  hoops: 'M0 9h32v6H0zM0 21h32v6H0z',
  sash: 'M0 8l8-8 24 26v10z',
}

export const Crest = ({ kit: { main, trim, pattern } }: { kit: Kit }) => html`
  <svg class="crest" viewBox="0 0 32 40" aria-hidden="true" focusable="false">
    <path d=${SHIELD} fill=${main} />
    <path d=${PATTERNS[pattern]} fill=${trim} style=${{ clipPath: `path("${SHIELD}")` }} />
    <path d=${SHIELD} fill="none" stroke=${trim} stroke-width="2" />
  </svg>
`
