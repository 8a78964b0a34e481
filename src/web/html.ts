/** Markup as template strings, like JSX but without a build step. */
export { html } from 'htm/preact'
