import { chooseLanguage } from '../../translations/load.ts'
import { currentLanguage, LANGUAGES, type Language } from '../../translations/translate.ts'

/** Chooses the language of the console. The label is in both languages, so that everyone finds it. */
export function LanguageChoice() {
  return (
    <label class="theme-switch">
      <span>{currentLanguage() === 'en' ? 'Language' : 'भाषा · Language'}</span>
      <select value={currentLanguage()} onChange={(event) => chooseLanguage(event.currentTarget.value as Language)}>
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
