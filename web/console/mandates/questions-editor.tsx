import { useState } from 'preact/hooks'
import type { EnrichmentQuestion, Language, Mandate } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import { FieldError } from '../shared/field-error.tsx'
import { languageName } from '../shared/labels.ts'
import { QuestionTranslations } from './question-translations.tsx'
import { SuggestTranslations } from './suggest-translations.tsx'
import { countMissing, isTranslatedLanguage, preparedSuggestions, type Suggestions } from './translations.ts'

interface Props {
  questions: EnrichmentQuestion[]
  /** The mandate as it is stored; undefined for a new one. */
  existing: Mandate | undefined
  /** The languages of the workflow. */
  languages: Language[]
  errorAt: (path: string) => string | undefined
  onChange: (questions: EnrichmentQuestion[]) => void
}

/**
 * Editor of the organisation's own questions in the languages of the workflow. The API field name of a question is derived from its text
 * until it is edited or stored.
 */
export function QuestionsEditor({ questions, existing, languages, errorAt, onChange }: Props) {
  const storedQuestions = existing?.enrichment_questions ?? []
  const translatedLanguages = languages.filter(isTranslatedLanguage)
  const [suggestions, setSuggestions] = useState<Suggestions>(() =>
    preparedSuggestions(storedQuestions, existing?.questions?.enrichment ?? []),
  )
  const missing = countMissing(questions, translatedLanguages)
  return (
    <fieldset class="card stack" id="your-questions">
      <legend class="card-legend">{t('Your questions')}</legend>
      {questions.map((question, index) => {
        const path = `enrichment_questions[${index}]`
        const id = `question-${index}`
        return (
          <div class="question" key={index}>
            <Field
              id={`${id}-text`}
              label={t('Question {number}, in English', { number: index + 1 })}
              error={errorAt(`${path}.text`)}
            >
              {(attributes) => (
                <input
                  type="text"
                  {...attributes}
                  placeholder={t('Do you hold a wireman licence?')}
                  value={question.text}
                  onInput={(event) => setText(index, event.currentTarget.value)}
                />
              )}
            </Field>
            {translatedLanguages.length > 0 && (
              <QuestionTranslations
                id={id}
                number={index + 1}
                question={question}
                stored={storedQuestions.find(({ key }) => key === question.key)}
                languages={translatedLanguages}
                suggestions={suggestions}
                errorAt={(language) => errorAt(`${path}.translations.${language}`)}
                onChange={(changed) => onChange(questions.map((each, at) => (at === index ? changed : each)))}
                onDiscard={(key) => setSuggestions(({ [key]: _, ...others }) => others)}
              />
            )}
            <div class="pair">
              <Field id={`${id}-type`} label={t('Answer type')} error={errorAt(`${path}.type`)}>
                {(attributes) => (
                  <select
                    {...attributes}
                    value={question.type}
                    onChange={(event) => setType(index, event.currentTarget.value as EnrichmentQuestion['type'])}
                  >
                    <option value="yes_no">{t('Yes or no')}</option>
                    <option value="voice">{t('Open answer')}</option>
                  </select>
                )}
              </Field>
              {question.type === 'yes_no' && (
                <Field id={`${id}-knockout`} label={t('Disqualifying answer')} error={errorAt(`${path}.knockout`)}>
                  {(attributes) => (
                    <select
                      {...attributes}
                      value={question.knockout ?? ''}
                      onChange={(event) => setKnockout(index, event.currentTarget.value)}
                    >
                      <option value="">{t('None')}</option>
                      <option value="no">{t('No')}</option>
                      <option value="yes">{t('Yes')}</option>
                    </select>
                  )}
                </Field>
              )}
              <Field id={`${id}-key`} label={t('Field name in the API')} error={errorAt(`${path}.key`)}>
                {(attributes) => (
                  <input
                    type="text"
                    {...attributes}
                    value={question.key}
                    onInput={(event) => change(index, { key: event.currentTarget.value })}
                  />
                )}
              </Field>
            </div>
            <div class="row between">
              <label class="check">
                <input
                  type="checkbox"
                  checked={question.required !== false}
                  onChange={(event) => change(index, { required: event.currentTarget.checked })}
                />
                {t('Required')}
              </label>
              <button
                type="button"
                class="plain flush"
                aria-label={t('Remove question {number}', { number: index + 1 })}
                onClick={() => onChange(questions.filter((_, at) => at !== index))}
              >
                {t('Remove')}
              </button>
            </div>
          </div>
        )
      })}
      {missing.length > 0 && (
        <p class="aside-note small" role="status">
          {t(
            'Missing translations: {languages}. Candidates who chose one of these languages are asked these questions in English.',
            {
              languages: missing
                .map(({ language, questions: count }) =>
                  t('{language} ({count} of {total})', {
                    language: languageName(language),
                    count,
                    total: questions.length,
                  }),
                )
                .join(', '),
            },
          )}
        </p>
      )}
      <SuggestTranslations
        questions={questions}
        languages={translatedLanguages}
        suggestions={suggestions}
        onSuggest={(added) => setSuggestions((previous) => ({ ...previous, ...added }))}
      />
      <p>
        <button
          type="button"
          class="small-button"
          onClick={() => onChange([...questions, { key: '', type: 'yes_no', text: '', required: true }])}
        >
          {t('Add question')}
        </button>
      </p>
      <p class="soft small">
        {t(
          'You can add up to five questions, or ten if candidates are asked nothing else. A disqualifying answer (knockout) ends the conversation politely: the result is completed, and the candidate is not qualified. A candidate who skips such a question, because it is optional, is undecided.',
        )}
      </p>
      {questions.every((_, index) => !errorAt(`enrichment_questions[${index}]`)) && (
        <FieldError text={errorAt('enrichment_questions')} />
      )}
    </fieldset>
  )

  function change(index: number, part: Partial<EnrichmentQuestion>) {
    onChange(questions.map((question, at) => (at === index ? { ...question, ...part } : question)))
  }

  function setText(index: number, text: string) {
    const { key, text: previousText } = questions[index]!
    const isStored = storedQuestions.some((stored) => stored.key === key) // results already use the key
    change(index, !isStored && key === fieldNameFrom(previousText) ? { text, key: fieldNameFrom(text) } : { text })
  }

  function setType(index: number, type: EnrichmentQuestion['type']) {
    const { knockout: _, ...rest } = questions[index]!
    onChange(
      questions.map((question, at) => (at === index ? { ...(type === 'voice' ? rest : question), type } : question)),
    )
  }

  function setKnockout(index: number, answer: string) {
    const { knockout: _, ...rest } = questions[index]!
    const changedQuestion = answer ? { ...rest, knockout: answer as 'yes' | 'no' } : rest
    onChange(questions.map((question, at) => (at === index ? changedQuestion : question)))
  }
}

const STOP_WORDS = new Set(
  'a an and any are at can do does for have hold in is of on or the to with you your'.split(' '),
)

/** Derives a field name from the content words of a question, for example `wireman_licence`. */
function fieldNameFrom(text: string): string {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const contentWords = words.filter((word) => !STOP_WORDS.has(word))
  return (contentWords.length > 0 ? contentWords : words).slice(0, 3).join('_').slice(0, 64)
}
