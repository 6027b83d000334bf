import { useEffect, useState } from 'preact/hooks'
import type {
  QuestionDetails,
  QuestionsOfSkill,
  StoredQuestion,
  SuggestedTranslations,
  TranslationService,
} from '../../api-types/console.ts'
import type { Language } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { capitalise } from '../shared/capitalise.ts'
import { explainError, formErrorText } from '../shared/explain-error.ts'
import { LANGUAGE_NAMES, languageName } from '../shared/labels.ts'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { Link, navigate, type Params } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import '../shared/forms.css'
import { KIND_NAMES } from './labels.ts'
import './question-edit.css'

const MIN_OPTIONS = 4
const MAX_OPTIONS = 6

interface Text {
  language: Language
  stem: string
  /** The right answer, and then the wrong ones. */
  options: string[]
}

interface Draft {
  kind: string
  difficulty: number
  texts: Text[]
}

/** Adds a question to the organisation's own bank, or changes and translates one. */
export default function QuestionEdit({ params }: { params: Params }) {
  const context = useOrgContext()
  const { skill_id: skillId, item_id: itemId } = params
  const question = useData<QuestionDetails>(itemId && context.apiPath(`/questions/${skillId}/${itemId}`))
  const skill = useData<QuestionsOfSkill>(itemId ? undefined : context.apiPath(`/questions/${skillId}`))
  const error = question.error ?? skill.error
  if (error) return <Notice kind="bad">{error.message}</Notice>
  const skillName = question.data?.skill_name ?? skill.data?.name
  if (!skillName) return <h1 class="waiting">Question</h1>
  if (question.data && !question.data.may_edit)
    return (
      <>
        <h1>{t('Edit question')}</h1>
        <Notice kind="wait">
          {t("Only owners can change questions, and only those of the organisation's own bank.")}
        </Notice>
      </>
    )
  const initial: Draft = question.data
    ? {
        kind: question.data.kind,
        difficulty: question.data.author_difficulty,
        texts: question.data.texts as Text[],
      }
    : { kind: 'unspecified', difficulty: 2, texts: [emptyText('en', MIN_OPTIONS)] }
  return <Form initial={initial} skillId={skillId!} skillName={skillName} itemId={itemId} />
}

function emptyText(language: Language, optionCount: number): Text {
  return { language, stem: '', options: Array.from({ length: optionCount }, () => '') }
}

interface FormProps {
  initial: Draft
  skillId: string
  skillName: string
  itemId: string | undefined
}

function Form({ initial, skillId, skillName, itemId }: FormProps) {
  const context = useOrgContext()
  const [draft, setDraft] = useState(initial)
  const [submitError, setSubmitError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const service = useData<TranslationService>(context.apiPath('/question-translations'))
  const optionCount = draft.texts[0]!.options.length
  const unused = (Object.keys(LANGUAGE_NAMES) as Language[]).filter(
    (language) => !draft.texts.some((text) => text.language === language),
  )
  const errorAt = (path: string) => {
    const message = submitError?.details.find((detail) => detail.path === path)?.message
    return message && explainError(path, message)
  }
  useEffect(() => {
    if (submitError) document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [submitError])
  return (
    <>
      <p>
        <Link to={context.pagePath('/questions')}>{t('Questions')}</Link> ·{' '}
        <Link to={context.pagePath(`/questions/${skillId}`)}>{skillName}</Link>
      </p>
      <h1>{itemId ? t('Edit question') : t('New question about {skill}', { skill: skillName })}</h1>
      {itemId && (
        <p class="soft">
          {t(
            'If you change the text, the question gets a new ID and no statistics. Existing jobs use it after you save them again. Adding a language keeps the statistics.',
          )}
        </p>
      )}
      <form class="stack narrow" noValidate onSubmit={(event) => void save(event)}>
        {submitError && <Notice kind="bad">{formErrorText(submitError)}</Notice>}
        {errorAt('texts') && <Notice kind="bad">{errorAt('texts')}</Notice>}
        {draft.texts.map((text, index) => (
          <TextFields
            key={text.language}
            text={text}
            original={index > 0 && service.data?.available ? draft.texts[0] : undefined}
            errorAt={(path) => errorAt(`texts[${index}].${path}`)}
            onChange={(changed) => change({ texts: draft.texts.map((each, at) => (at === index ? changed : each)) })}
            onOptionCount={index === 0 ? setOptionCount : undefined}
            onRemove={
              draft.texts.length > 1 ? () => change({ texts: draft.texts.filter((_, at) => at !== index) }) : undefined
            }
          />
        ))}
        <label class="added-language">
          {t('Add a language')}
          <select
            value=""
            onChange={(event) => {
              const language = event.currentTarget.value as Language
              if (language) change({ texts: [...draft.texts, emptyText(language, optionCount)] })
            }}
          >
            <option value="">{t('Choose')}</option>
            {unused.map((language) => (
              <option key={language} value={language}>
                {LANGUAGE_NAMES[language]}
              </option>
            ))}
          </select>
        </label>
        <section class="card stack">
          <div class="pair">
            <Field id="kind" label={t('Kind')} error={errorAt('kind')}>
              {(attributes) => (
                <select
                  {...attributes}
                  value={draft.kind}
                  onChange={(event) => change({ kind: event.currentTarget.value })}
                >
                  {Object.entries(KIND_NAMES).map(([kind, name]) => (
                    <option key={kind} value={kind}>
                      {capitalise(name)}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <Field id="difficulty" label={t('Difficulty')} error={errorAt('difficulty')}>
              {(attributes) => (
                <select
                  {...attributes}
                  value={draft.difficulty}
                  onChange={(event) => change({ difficulty: Number(event.currentTarget.value) })}
                >
                  <option value={1}>{t('Easy')}</option>
                  <option value={2}>{t('Medium')}</option>
                  <option value={3}>{t('Difficult')}</option>
                </select>
              )}
            </Field>
          </div>
        </section>
        <div class="row">
          <SubmitButton class="primary" busy={busy}>
            {itemId ? t('Save question') : t('Add question')}
          </SubmitButton>
        </div>
      </form>
    </>
  )

  function change(part: Partial<Draft>) {
    setSubmitError(undefined)
    setDraft((previous) => ({ ...previous, ...part }))
  }

  /** All languages have the same answers, in the same order. */
  function setOptionCount(count: number) {
    change({
      texts: draft.texts.map((text) => ({
        ...text,
        options: Array.from({ length: count }, (_, index) => text.options[index] ?? ''),
      })),
    })
  }

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const path = context.apiPath(`/questions/${skillId}${itemId ? `/${itemId}` : ''}`)
    const response = await api<StoredQuestion>(path, { method: itemId ? 'PUT' : 'POST', body: draft })
    setBusy(false)
    if (!response.ok) return setSubmitError(response.error)
    navigate(context.pagePath(`/questions/${skillId}/${response.data.item_id}`))
  }
}

interface TextFieldsProps {
  text: Text
  /** The text to translate; undefined if nothing can be translated automatically. */
  original: Text | undefined
  errorAt: (path: string) => string | undefined
  onChange: (text: Text) => void
  /** Adds or removes wrong answers in all languages; undefined where the user cannot do this. */
  onOptionCount: ((count: number) => void) | undefined
  onRemove: (() => void) | undefined
}

/** The question and its answers in one language. */
function TextFields({ text, original, errorAt, onChange, onOptionCount, onRemove }: TextFieldsProps) {
  const { language, stem, options } = text
  const name = languageName(language)
  return (
    <fieldset class="card stack">
      <legend class="card-legend">{name}</legend>
      {original && <Suggestion original={original} language={language} onUse={onChange} />}
      <Field id={`stem-${language}`} label={t('Question')} error={errorAt('stem')}>
        {(attributes) => (
          <textarea
            {...attributes}
            {...describeLanguage(t('Question'))}
            class="stem-input"
            rows={2}
            value={stem}
            onInput={(event) => onChange({ ...text, stem: event.currentTarget.value })}
          />
        )}
      </Field>
      <div class="answer-fields">
        {options.map((option, index) => {
          const label = index === 0 ? t('Right answer') : t('Wrong answer {number}', { number: index })
          return (
            <Field key={index} id={`option${index}-${language}`} label={label} error={errorAt(`options[${index}]`)}>
              {(attributes) => (
                <input
                  type="text"
                  {...attributes}
                  {...describeLanguage(label)}
                  value={option}
                  onInput={({ currentTarget: { value } }) =>
                    onChange({ ...text, options: options.map((each, at) => (at === index ? value : each)) })
                  }
                />
              )}
            </Field>
          )
        })}
      </div>
      {onOptionCount && (
        <div class="row">
          {options.length < MAX_OPTIONS && (
            <button type="button" class="small-button" onClick={() => onOptionCount(options.length + 1)}>
              {t('Add a wrong answer')}
            </button>
          )}
          {options.length > MIN_OPTIONS && (
            <button type="button" class="small-button" onClick={() => onOptionCount(options.length - 1)}>
              {t('Remove the last wrong answer')}
            </button>
          )}
        </div>
      )}
      {onRemove && (
        <p>
          <button type="button" class="plain flush" onClick={onRemove}>
            {t('Remove {name}', { name })}
          </button>
        </p>
      )}
    </fieldset>
  )

  /** The language is the title of the card; screen readers announce it with every field. */
  function describeLanguage(label: string) {
    return { lang: language, 'aria-label': t('{label}, in {language}', { label, language: name }) }
  }
}

interface SuggestionProps {
  original: Text
  language: Language
  onUse: (text: Text) => void
}

/** Asks the AI writer for a translation, which is used when the owner confirms it. */
function Suggestion({ original, language, onUse }: SuggestionProps) {
  const context = useOrgContext()
  const [busy, setBusy] = useState(false)
  const [suggested, setSuggested] = useState<Text>()
  const [failure, setFailure] = useState<string>()
  const name = languageName(language)
  const isComplete = [original.stem, ...original.options].every((each) => each.trim())
  return (
    <>
      {failure && <Notice kind="bad">{failure}</Notice>}
      {suggested ? (
        <div class="suggestion">
          <span class="soft small">{t('Suggested by the AI writer, not confirmed')}</span>
          <p lang={language}>{suggested.stem}</p>
          <ol lang={language}>
            {suggested.options.map((option) => (
              <li key={option}>{option}</li>
            ))}
          </ol>
          <div class="row">
            <button
              type="button"
              class="small-button"
              onClick={() => {
                onUse(suggested)
                setSuggested(undefined)
                document.getElementById(`stem-${language}`)?.focus()
              }}
            >
              {t('Use this translation')}
            </button>
            <button type="button" class="plain flush" onClick={() => setSuggested(undefined)}>
              {t('Discard')}
            </button>
          </div>
        </div>
      ) : (
        <p>
          <SubmitButton
            type="button"
            class="small-button"
            busy={busy}
            ready={isComplete}
            onClick={() => void suggest()}
          >
            {t('Suggest a translation into {language}', { language: name })}
          </SubmitButton>
        </p>
      )}
    </>
  )

  async function suggest() {
    setBusy(true)
    setFailure(undefined)
    const response = await api<SuggestedTranslations>(context.apiPath('/question-translations'), {
      method: 'POST',
      body: { texts: [original.stem, ...original.options], from: original.language, to: [language] },
    })
    setBusy(false)
    if (!response.ok) return setFailure(response.error.message)
    const [translation] = response.data.translations
    if (!translation)
      return setFailure(
        t('The AI writer could not translate into {language}. Write the texts yourself.', { language: name }),
      )
    const [stem, ...options] = translation.texts
    setSuggested({ language, stem: stem!, options })
  }
}
