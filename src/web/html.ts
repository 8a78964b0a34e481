/** Markup as template strings: what JSX would be, without a step that translates it. */
export { html } from 'htm/preact'
