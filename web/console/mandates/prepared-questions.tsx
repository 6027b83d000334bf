import { useState } from 'preact/hooks'
import { describeItemSource } from '../../../sdk/verdict-texts.ts'
import type { Language, PreparedQuestions as Questions, TextByLanguage } from '../../api-types/partner.ts'
import { LANGUAGE_NAMES, languageName } from '../shared/labels.ts'
import './prepared-questions.css'

interface Props {
  questions: Questions
  /** The workflow's languages, in order. */
  languages: Language[]
  /** The disqualifying answers, by question key. */
  knockouts: Map<string, 'yes' | 'no' | undefined>
}

/** All questions as candidates see them, in one language at a time. */
export function PreparedQuestions({ questions, languages, knockouts }: Props) {
  const shownLanguages: Language[] = languages.length > 0 ? languages : ['en']
  const [selected, setSelected] = useState<Language>()
  const language = selected ?? shownLanguages[0]!
  const { enrichment, skills, interest } = questions
  return (
    <section class="stack prepared" aria-label="Prepared questions">
      <div class="row between">
        <h2>Questions for candidates</h2>
        {shownLanguages.length > 1 && (
          <fieldset class="row languages" aria-label="Language">
            {shownLanguages.map((code) => (
              <button
                type="button"
                key={code}
                class="small-button"
                lang={code}
                aria-pressed={code === language}
                onClick={() => setSelected(code)}
              >
                {LANGUAGE_NAMES[code]?.split(' · ')[0]}
              </button>
            ))}
          </fieldset>
        )}
      </div>
      {enrichment.length > 0 && (
        <div class="card stack-tight">
          <h3>Your questions</h3>
          <ol class="question-list">
            {enrichment.map(({ key, type, required, text }) => (
              <li key={key}>
                <QuestionText texts={text} language={language} />{' '}
                <span class="soft small">
                  {type === 'yes_no' ? 'yes or no' : 'open answer'}
                  {knockouts.get(key) && `, “${knockouts.get(key)}” disqualifies`}
                  {required ? '' : ', optional'} · <code>{key}</code>
                </span>
              </li>
            ))}
          </ol>
        </div>
      )}
      {skills.map((skill) => (
        <SkillQuestions key={skill.skill_id} skill={skill} language={language} />
      ))}
      {interest && (
        <div class="card stack-tight">
          <h3>Interest</h3>
          <p>At the end, candidates are asked whether they are interested in the job: yes or no.</p>
        </div>
      )}
      <p class="soft small">
        Correct answers are never shown, so that they cannot be passed on. Candidates see each question in their
        language. If skill questions do not exist in it, they choose another language.
      </p>
    </section>
  )
}

/** The questions about a skill: where they come from, how many are asked, and examples. */
function SkillQuestions({ skill, language }: { skill: Questions['skills'][number]; language: Language }) {
  const { name, item_source, item_count, items_per_candidate, items } = skill
  return (
    <div class="card stack-tight">
      <h3>{name}</h3>
      {item_source && items_per_candidate && (
        <p>
          {items_per_candidate.min} to {items_per_candidate.max} questions per candidate, drawn from {item_count}{' '}
          {describeItemSource(item_source)}. Each candidate gets other questions, with the answers in another order. The
          questions end as soon as the verdict is certain enough.
        </p>
      )}
      {items.length > 0 && item_source && <h4>Examples</h4>}
      {items.length === 0 && item_source === 'private' && (
        <p class="soft small">No examples are shown, so that your questions stay confidential.</p>
      )}
      {items.length > 0 && (
        <ol class="question-list">
          {items.map(({ difficulty, stem, options }, index) => {
            const shownLanguage = language in stem ? language : (firstLanguage(stem) ?? 'en')
            return (
              <li key={index}>
                <QuestionText texts={stem} language={language} />{' '}
                <span class="soft small">{['', 'easy', 'medium', 'hard'][difficulty]}</span>
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
      {shownLanguage !== language && <span class="tag">only in {languageName(shownLanguage)}</span>}
    </>
  )
}
