/** Search and theme of the API documentation page. */
const main = (): void => {
  const articles = [...document.querySelectorAll<HTMLElement>('article, tbody tr')]
  const links = [...document.querySelectorAll<HTMLAnchorElement>('nav li a')]

  // On a phone the table of contents would hide the text.
  if (matchMedia('(max-width: 900px)').matches) document.querySelector('nav details')?.removeAttribute('open')

  const find = document.querySelector<HTMLInputElement>('#find')
  if (find !== null) {
    find.hidden = false
    find.addEventListener('input', () => {
      const words = find.value.toLowerCase().split(/\s+/).filter(Boolean)
      const isWanted = (text: string | null): boolean => words.every((word) => text?.toLowerCase().includes(word))
      for (const article of articles) article.hidden = !isWanted(article.textContent)
      for (const link of links) {
        const target = document.querySelector<HTMLElement>(link.hash)
        link.hidden = target?.matches('article') === true && target.hidden
      }
    })
  }

  const THEME = 'touchline.docs.theme'
  const root = document.documentElement
  const show = (theme: string): void => {
    root.dataset['theme'] = theme
  }
  const kept = localStorage.getItem(THEME)
  if (kept !== null) show(kept)

  const button = document.querySelector<HTMLButtonElement>('#theme')
  if (button !== null) {
    button.hidden = false
    button.addEventListener('click', () => {
      const isDark =
        root.dataset['theme'] === undefined
          ? matchMedia('(prefers-color-scheme: dark)').matches
          : root.dataset['theme'] === 'dark'
      const next = isDark ? 'light' : 'dark'
      show(next)
      localStorage.setItem(THEME, next)
    })
  }
}
main()
