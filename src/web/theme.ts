/** Light or dark: the system's choice until the user makes their own. */
import { signal } from '@preact/signals'
import { device } from './storage.ts'

type Theme = 'dark' | 'light'

const KEY = 'touchline.theme'
const system = matchMedia('(prefers-color-scheme: light)')
const chosen = device.get(KEY)

export const theme = signal<Theme>(chosen === 'dark' || chosen === 'light' ? chosen : systemTheme())

function systemTheme(): Theme {
  return system.matches ? 'light' : 'dark'
}

system.addEventListener('change', () => {
  if (device.get(KEY) === null) theme.value = systemTheme()
})
theme.subscribe((name) => (document.documentElement.dataset['theme'] = name))

export function toggleTheme(): void {
  theme.value = theme.peek() === 'dark' ? 'light' : 'dark'
  device.set(KEY, theme.peek())
}
