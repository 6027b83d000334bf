import { useState } from 'preact/hooks'
import type { EnrichmentQuestion } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import { languageName } from '../shared/labels.ts'
import {
  confirmedTranslation,
  type Suggestions,
  suggestionKey,
  type TranslatedLanguage,
  withTranslation,
} from './translations.ts'

/** With more languages, the fields are folded. */
const MAX_UNFOLDED_LANGUAGES = 3

interface Props {
  id: string
  /** Position of the question, from 1. */
  number: number
  question: EnrichmentQuestion
  /** The question as it is stored; undefined for a new one. */
  stored: EnrichmentQuestion | undefined
  languages: TranslatedLanguage[]
  suggestions: Suggestions
  errorAt: (language: TranslatedLanguage) => string | undefined
  onChange: (question: EnrichmentQuestion) => void
  onDiscard: (suggestionKey: string) => void
}

/** The fields of a question in the other languages of the workflow, with the suggestions of the AI writer. */
export function QuestionTranslations({ id, number, question, languages, errorAt, ...props }: Props) {
  const missing = languages.filter((language) => confirmedTranslation(question, language) === undefined)
  const [isOpen, setIsOpen] = useState(languages.length <= MAX_UNFOLDED_LANGUAGES)
  const hasError = languages.some((language) => errorAt(language))
  return (
    <details class="translations" open={isOpen || hasError} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>
        {t('Translations: {count} of {total}', {
          count: languages.length - missing.length,
          total: languages.length,
        })}
        {missing.length > 0 && (
          <span class="soft small">
            {` · ${t('missing: {languages}', { languages: missing.map((language) => languageName(language)).join(', ') })}`}
          </span>
        )}
      </summary>
      <div class="stack">
        {languages.map((language) => (
          <Translation
            key={language}
            id={`${id}-${language}`}
            number={number}
            question={question}
            language={language}
            error={errorAt(language)}
            {...props}
          />
        ))}
      </div>
    </details>
  )
}

interface TranslationProps extends Omit<Props, 'languages' | 'errorAt'> {
  language: TranslatedLanguage
  error: string | undefined
}

function Translation({
  id,
  number,
  question,
  stored,
  language,
  suggestions,
  error,
  onChange,
  onDiscard,
}: TranslationProps) {
  const name = languageName(language)
  const text = question.translations?.[language] ?? ''
  const key = suggestionKey(language, question.text)
  const suggestion = confirmedTranslation(question, language) === undefined ? suggestions[key] : undefined
  const isOutdated = text !== '' && stored?.translations?.[language] === text && stored.text !== question.text
  const hint = isOutdated
    ? t('The English text has changed. Check this translation.')
    : text === ''
      ? t('Without it, candidates who chose {language} are asked in English.', { language: name })
      : undefined
  return (
    <div class="stack-tight">
      <Field
        id={id}
        label={t('Question {number}, in {language}', { number, language: name })}
        {...(hint ? { hint } : {})}
        error={error}
      >
        {(attributes) => (
          <input
            type="text"
            {...attributes}
            lang={language}
            value={text}
            onInput={(event) => onChange(withTranslation(question, language, event.currentTarget.value))}
          />
        )}
      </Field>
      {suggestion && (
        <div class="suggestion">
          <p>
            <span class="soft small">{t('Suggested by the AI writer, not confirmed')}</span>
            <br />
            <span lang={language}>{suggestion}</span>
          </p>
          <div class="row">
            <button
              type="button"
              class="small-button"
              aria-label={t('Use this translation: question {number}, {language}', { number, language: name })}
              onClick={() => {
                onChange(withTranslation(question, language, suggestion))
                document.getElementById(id)?.focus()
              }}
            >
              {t('Use this translation')}
            </button>
            <button
              type="button"
              class="plain flush"
              aria-label={t('Discard: question {number}, {language}', { number, language: name })}
              onClick={() => {
                onDiscard(key)
                document.getElementById(id)?.focus()
              }}
            >
              {t('Discard')}
            </button>
          </div>
        </div>
      )}
    </div>
  )
}
