import { useState } from 'preact/hooks'
import type { SuggestedTranslations, TranslationService } from '../../api-types/console.ts'
import type { EnrichmentQuestion } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { languageName } from '../shared/labels.ts'
import { api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { useOrgContext } from '../shell/session.ts'
import { confirmedTranslation, type Suggestions, suggestionKey, type TranslatedLanguage } from './translations.ts'

interface Props {
  questions: EnrichmentQuestion[]
  languages: TranslatedLanguage[]
  suggestions: Suggestions
  onSuggest: (suggestions: Suggestions) => void
}

/** Asks the AI writer, if there is one, for the translations that are missing. */
export function SuggestTranslations({ questions, languages, suggestions, onSuggest }: Props) {
  const context = useOrgContext()
  const path = context.apiPath('/question-translations')
  const service = useData<TranslationService>(path)
  const [busy, setBusy] = useState(false)
  const [outcome, setOutcome] = useState<{ kind: 'good' | 'bad' | 'wait'; text: string }>()
  if (!service.data?.available) return null
  const lacksText = (question: EnrichmentQuestion, language: TranslatedLanguage) =>
    confirmedTranslation(question, language) === undefined && !suggestions[suggestionKey(language, question.text)]
  const incomplete = questions.filter(
    (question) => question.text.trim() && languages.some((language) => lacksText(question, language)),
  )
  const texts = [...new Set(incomplete.map(({ text }) => text))]
  const missing = languages.filter((language) => incomplete.some((question) => lacksText(question, language)))
  return (
    <>
      {texts.length > 0 && (
        <p>
          <SubmitButton type="button" class="small-button" busy={busy} onClick={() => void suggest()}>
            {t('Suggest translations')}
          </SubmitButton>
        </p>
      )}
      {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
    </>
  )

  async function suggest() {
    setBusy(true)
    setOutcome(undefined)
    const response = await api<SuggestedTranslations>(path, { method: 'POST', body: { texts, to: missing } })
    setBusy(false)
    if (!response.ok)
      return setOutcome({ kind: 'bad', text: response.error.details[0]?.message ?? response.error.message })
    const { translations, missing: untranslated } = response.data
    onSuggest(
      Object.fromEntries(
        translations.flatMap(({ language, texts: translated }) =>
          texts.map((text, index) => [suggestionKey(language as TranslatedLanguage, text), translated[index]!]),
        ),
      ),
    )
    setOutcome(
      untranslated.length === 0
        ? { kind: 'good', text: t('Check each suggestion. Candidates see only the translations that you use.') }
        : {
            kind: 'wait',
            text: t('The AI writer could not translate into {languages}. Write these texts yourself, or try again.', {
              languages: untranslated.map((language) => languageName(language)).join(', '),
            }),
          },
    )
  }
}
