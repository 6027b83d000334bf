const LANGUAGE_NAMES = { en: 'English', hi: 'हिन्दी' } as const

/** Button labelled with the other language, in that language. */
export function LanguageSwitch({
  language,
  onChoose,
}: {
  language: 'en' | 'hi'
  onChoose: (next: 'en' | 'hi') => void
}) {
  const otherLanguage = language === 'en' ? 'hi' : 'en'
  return (
    <button type="button" class="plain" lang={otherLanguage} onClick={() => onChoose(otherLanguage)}>
      {LANGUAGE_NAMES[otherLanguage]}
    </button>
  )
}
