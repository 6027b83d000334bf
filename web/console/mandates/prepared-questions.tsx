import { useState } from 'preact/hooks'
import type {
  EnrichmentQuestion,
  Language,
  Mandate,
  PreparedQuestions as Questions,
  TextByLanguage,
} from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { LANGUAGE_NAMES, languageName } from '../shared/labels.ts'
import { Link } from '../shell/router.tsx'
import { MandateSkillQuestions } from './mandate-skill-questions.tsx'
import { confirmedTranslation, isTranslatedLanguage } from './translations.ts'
import './prepared-questions.css'

interface Props {
  mandate: Mandate
  questions: Questions
  /** The workflow's languages, in order. */
  languages: Language[]
  /** Path of the page that edits the questions; undefined if the user may not. */
  editPath: string | undefined
}

/** All questions as candidates see them, in one language at a time. */
export function PreparedQuestions({ mandate, questions, languages, editPath }: Props) {
  const shownLanguages: Language[] = languages.length > 0 ? languages : ['en']
  const inputs = new Map(mandate.enrichment_questions?.map((question) => [question.key, question]))
  const [selected, setSelected] = useState<Language>()
  const language = selected ?? shownLanguages[0]!
  const { enrichment, skills, interest } = questions
  return (
    <section class="stack prepared" aria-label={t('Prepared questions')}>
      <div class="row between">
        <h2>{t('Questions for candidates')}</h2>
        {shownLanguages.length > 1 && (
          <fieldset class="row languages" aria-label={t('Language')}>
            {shownLanguages.map((code) => (
              <button
                type="button"
                key={code}
                class="small-button"
                lang={code}
                aria-pressed={code === language}
                onClick={() => setSelected(code)}
              >
                {LANGUAGE_NAMES[code]?.split(' · ').at(-1)}
              </button>
            ))}
          </fieldset>
        )}
      </div>
      {enrichment.length > 0 && (
        <div class="card stack-tight">
          <div class="row between">
            <h3>{t('Your questions')}</h3>
            {editPath && (
              <Link class="button small-button" to={editPath}>
                {t('Edit and translate')}
              </Link>
            )}
          </div>
          <MissingTranslations enrichment={enrichment} languages={shownLanguages} />
          <ol class="question-list">
            {enrichment.map(({ key, type, required, text }) => (
              <li key={key}>
                <QuestionText texts={text} language={language} />{' '}
                <TextOrigin question={inputs.get(key)} texts={text} language={language} />
                <br />
                <span class="soft small">
                  {questionNotes(type, inputs.get(key)?.knockout, required).join(', ')} · <code>{key}</code>
                </span>
              </li>
            ))}
          </ol>
        </div>
      )}
      {skills.map((skill) => (
        <SkillQuestions key={skill.skill_id} mandateId={mandate.mandate_id} skill={skill} language={language} />
      ))}
      {interest && (
        <div class="card stack-tight">
          <h3>{t('Interest')}</h3>
          <p>{t('At the end, candidates are asked whether they are interested in the job: yes or no.')}</p>
        </div>
      )}
      <p class="soft small">
        {t(
          'Correct answers are not shown here, so that they cannot be passed on. Candidates see each question in their language. If one of your questions has no translation, they see it in English. If skill questions do not exist in their language, they choose another one.',
        )}
      </p>
    </section>
  )
}

function questionNotes(
  type: EnrichmentQuestion['type'],
  knockout: EnrichmentQuestion['knockout'],
  isRequired: boolean,
): string[] {
  const notes = [type === 'yes_no' ? t('yes or no') : t('open answer')]
  if (knockout) notes.push(knockout === 'no' ? t('“no” disqualifies') : t('“yes” disqualifies'))
  if (!isRequired) notes.push(t('optional'))
  return notes
}

/** Names the languages in which questions are missing, so that candidates are asked in English. */
function MissingTranslations({
  enrichment,
  languages,
}: {
  enrichment: Questions['enrichment']
  languages: Language[]
}) {
  const missing = languages
    .map((language) => ({ language, count: enrichment.filter(({ text }) => !(language in text)).length }))
    .filter(({ count }) => count > 0)
  if (missing.length === 0) return null
  return (
    <p class="aside-note small">
      {t('Asked in English, because a translation is missing: {languages}.', {
        languages: missing
          .map(({ language, count }) =>
            t('{language} ({count} of {total})', { language: languageName(language), count, total: enrichment.length }),
          )
          .join(', '),
      })}
    </p>
  )
}

interface TextOriginProps {
  /** The question as the organisation wrote it. */
  question: EnrichmentQuestion | undefined
  texts: TextByLanguage
  language: Language
}

/** Who wrote the text of a question in a language: the organisation, or the AI writer. */
function TextOrigin({ question, texts, language }: TextOriginProps) {
  if (!question || !(language in texts)) return null
  const isOwn = !isTranslatedLanguage(language) || confirmedTranslation(question, language) !== undefined
  return <span class="tag">{isOwn ? t('your text') : t('AI translation, not confirmed')}</span>
}

const DIFFICULTY_NAMES: Record<number, string> = { 1: t('easy'), 2: t('medium'), 3: t('hard') }

interface SkillQuestionsProps {
  mandateId: string
  skill: Questions['skills'][number]
  language: Language
}

/** The questions about a skill: where they come from, how many are asked, and examples. */
function SkillQuestions({ mandateId, skill, language }: SkillQuestionsProps) {
  const { name, item_source, item_count, items_per_candidate, items } = skill
  return (
    <div class="card stack-tight">
      <h3>{name}</h3>
      {item_source && items_per_candidate && (
        <p>
          {t(
            item_source === 'bank'
              ? '{min} to {max} questions per candidate, drawn from {count} public questions.'
              : item_source === 'private'
                ? '{min} to {max} questions per candidate, drawn from {count} your own questions.'
                : '{min} to {max} questions per candidate, drawn from {count} AI questions.',
            { min: items_per_candidate.min, max: items_per_candidate.max, count: item_count },
          )}{' '}
          {t(
            'Each candidate gets other questions, with the answers in another order. The questions end as soon as the verdict is certain enough.',
          )}
        </p>
      )}
      {items.length > 0 && item_source && <h4>{t('Examples')}</h4>}
      {items.length === 0 && item_source === 'private' && (
        <p class="soft small">{t('No examples are shown, so that your questions stay confidential.')}</p>
      )}
      {items.length > 0 && (
        <ol class="question-list">
          {items.map(({ difficulty, stem, options }, index) => {
            const shownLanguage = language in stem ? language : (firstLanguage(stem) ?? 'en')
            return (
              <li key={index}>
                <QuestionText texts={stem} language={language} />{' '}
                <span class="soft small">{DIFFICULTY_NAMES[difficulty]}</span>
                <ul class="answers" lang={shownLanguage}>
                  {(options[shownLanguage] ?? []).map((option) => (
                    <li key={option}>{option}</li>
                  ))}
                </ul>
              </li>
            )
          })}
        </ol>
      )}
      {item_source && <MandateSkillQuestions mandateId={mandateId} skillId={skill.skill_id} count={item_count} />}
    </div>
  )
}

function firstLanguage(texts: TextByLanguage): Language | undefined {
  return Object.keys(texts)[0] as Language | undefined
}

function QuestionText({ texts, language }: { texts: TextByLanguage; language: Language }) {
  const shownLanguage = language in texts ? language : firstLanguage(texts)
  if (!shownLanguage) return <>–</>
  return (
    <>
      <span lang={shownLanguage}>{texts[shownLanguage]}</span>
      {shownLanguage !== language && ' '}
      {shownLanguage !== language && (
        <span class="tag">{t('only in {language}', { language: languageName(shownLanguage) })}</span>
      )}
    </>
  )
}
