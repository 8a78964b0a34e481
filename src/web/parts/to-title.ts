/** From a control that goes away with what it does, to the title of its card: else the focus would be lost. */
export function toTitle(event: Event): void {
  const title = (event.currentTarget as HTMLElement).closest('section')?.querySelector('h2')
  if (!title) return
  title.tabIndex = -1
  title.focus({ preventScroll: true })
}
