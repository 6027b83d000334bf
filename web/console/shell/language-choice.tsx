import { chooseLanguage } from '../../translations/load.ts'
import { currentLanguage, LANGUAGES, type Language } from '../../translations/translate.ts'

/** The label for screen readers in each language, followed by the English word, so that everyone finds it. */
const LABELS: Record<Language, string> = { en: 'Language', hi: 'भाषा · Language' }

interface Props {
  /** Stores the choice with the account of the signed-in user. */
  save?: (language: Language) => Promise<unknown>
}

/** Chooses the language of the console. */
export function LanguageChoice({ save }: Props) {
  return (
    <label class="theme-switch">
      <span class="hidden-text">{LABELS[currentLanguage()]}</span>
      <select value={currentLanguage()} onChange={(event) => void choose(event.currentTarget.value as Language)}>
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )

  async function choose(language: Language) {
    await save?.(language)
    chooseLanguage(language)
  }
}
