import { useState } from 'preact/hooks'
import { t } from '../../translations/translate.ts'

const STORAGE_KEY = 'attestry theme'
const THEMES = [
  ['system', 'Automatic'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const
type Theme = (typeof THEMES)[number][0]

function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(STORAGE_KEY)
    return stored === 'light' || stored === 'dark' ? stored : 'system'
  } catch {
    return 'system'
  }
}

/** Sets the colours of the page to those that the user chose. Called before the first paint. */
export function applyTheme(theme: Theme = readTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

/** Chooses light or dark colours, or those of the device. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState(readTheme)
  return (
    <label class="theme-switch">
      <span>{t('Colours')}</span>
      <select
        value={theme}
        onChange={(event) => {
          const chosen = event.currentTarget.value as Theme
          setTheme(chosen)
          applyTheme(chosen)
          try {
            localStorage.setItem(STORAGE_KEY, chosen)
          } catch {}
        }}
      >
        {THEMES.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
