import { useState } from 'preact/hooks'
import { t } from '../../translations/translate.ts'
import { chooseTheme, readTheme, type Theme } from './theme.ts'

const THEME_NAMES: Record<Theme, string> = { system: t('Automatic'), light: t('Light'), dark: t('Dark') }

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
          chooseTheme(chosen)
        }}
      >
        {Object.entries(THEME_NAMES).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
