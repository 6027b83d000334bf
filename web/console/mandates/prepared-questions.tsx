import { useState } from 'preact/hooks'
import { LANGUAGES, languageName } from '../shared/labels.ts'
import type { PreparedQuestions as Questions } from '../shared/records.ts'
import './prepared-questions.css'

interface Props {
  questions: Questions
  /** The workflow's, in its order. */
  languages: string[]
  /** By the key of a question, the answer that ends the conversation. */
  knockouts: Map<string, 'yes' | 'no' | undefined>
}

/** Everything that candidates will be asked, as they will read it, in one language at a time. */
export function PreparedQuestions({ questions, languages, knockouts }: Props) {
  const all = languages.length > 0 ? languages : ['en']
  const [chosen, setChosen] = useState<string>()
  const language = chosen ?? all[0]!
  const { enrichment, skills, interest } = questions
  return (
    <section class="stack prepared" aria-label="Prepared questions">
      <div class="row between">
        <h2>What candidates are asked</h2>
        {all.length > 1 && (
          <fieldset class="row languages" aria-label="Language">
            {all.map((code) => (
              <button
                type="button"
                key={code}
                class="small-button"
                lang={code}
                aria-pressed={code === language}
                onClick={() => setChosen(code)}
              >
                {LANGUAGES[code]?.split(' · ')[0]}
              </button>
            ))}
          </fieldset>
        )}
      </div>
      {enrichment.length > 0 && (
        <div class="card stack-tight">
          <h3>Your questions</h3>
          <ol class="asked">
            {enrichment.map(({ key, type, required, text }) => (
              <li key={key}>
                <Wording texts={text} language={language} />{' '}
                <span class="soft small">
                  {type === 'yes_no' ? 'yes or no' : 'in their own words'}
                  {knockouts.get(key) && `, “${knockouts.get(key)}” ends it`}
                  {required ? '' : ', may be skipped'} · <code>{key}</code>
                </span>
              </li>
            ))}
          </ol>
        </div>
      )}
      {skills.map(({ skill_id, name, items }) => (
        <div class="card stack-tight" key={skill_id}>
          <h3>{name}</h3>
          <ol class="asked">
            {items.map(({ difficulty, stem, options }, index) => {
              const spoken = language in stem ? language : (Object.keys(stem)[0] ?? 'en')
              return (
                <li key={index}>
                  <Wording texts={stem} language={language} />{' '}
                  <span class="soft small">{['', 'easy', 'medium', 'hard'][difficulty]}</span>
                  <ul class="answers" lang={spoken}>
                    {(options[spoken] ?? []).map((option) => (
                      <li key={option}>{option}</li>
                    ))}
                  </ul>
                </li>
              )
            })}
          </ol>
        </div>
      ))}
      {interest && (
        <div class="card stack-tight">
          <h3>Interest</h3>
          <p>At the end, whether they want this job: yes or no.</p>
        </div>
      )}
      <p class="soft small">
        Which answer is right is not shown here, nor to anybody who could pass it on. Candidates get each question in
        their language, or in another one where it is not written in theirs.
      </p>
    </section>
  )
}

function Wording({ texts, language }: { texts: Record<string, string>; language: string }) {
  const spoken = language in texts ? language : Object.keys(texts)[0]
  if (!spoken) return <>–</>
  return (
    <>
      <span lang={spoken}>{texts[spoken]}</span>
      {spoken !== language && ' '}
      {spoken !== language && <span class="tag">only in {languageName(spoken)}</span>}
    </>
  )
}
