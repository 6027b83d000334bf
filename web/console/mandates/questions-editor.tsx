import { Field } from '../../ui/field.tsx'
import { Fault } from '../shared/field-error.tsx'
import type { Question } from '../shared/records.ts'

interface Props {
  questions: Question[]
  fault: (path: string) => string | undefined
  onChange: (questions: Question[]) => void
}

/** The partner's own questions. Each has a key under which its answer comes back; it is made of the words until it is typed. */
export function QuestionsEditor({ questions, fault, onChange }: Props) {
  return (
    <fieldset class="card stack">
      <legend class="card-legend">Your questions</legend>
      {questions.map((question, index) => {
        const path = `enrichment_questions[${index}]`
        const id = `question-${index}`
        return (
          <div class="question" key={index}>
            <Field id={`${id}-text`} label={`Question ${index + 1}, in English`} fault={fault(`${path}.text`)}>
              {(attributes) => (
                <input
                  type="text"
                  {...attributes}
                  placeholder="Do you hold a wireman licence?"
                  value={question.text}
                  onInput={(event) => retell(index, event.currentTarget.value)}
                />
              )}
            </Field>
            <div class="pair">
              <Field id={`${id}-type`} label="Answered" fault={fault(`${path}.type`)}>
                {(attributes) => (
                  <select
                    {...attributes}
                    value={question.type}
                    onChange={(event) => retype(index, event.currentTarget.value as Question['type'])}
                  >
                    <option value="yes_no">Yes or no</option>
                    <option value="voice">In their own words</option>
                  </select>
                )}
              </Field>
              {question.type === 'yes_no' && (
                <Field id={`${id}-knockout`} label="Not qualified if" fault={fault(`${path}.knockout`)}>
                  {(attributes) => (
                    <select
                      {...attributes}
                      value={question.knockout ?? ''}
                      onChange={(event) => knock(index, event.currentTarget.value)}
                    >
                      <option value="">Neither</option>
                      <option value="no">The answer is no</option>
                      <option value="yes">The answer is yes</option>
                    </select>
                  )}
                </Field>
              )}
              <Field id={`${id}-key`} label="Key of the answer" fault={fault(`${path}.key`)}>
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
                Must be answered
              </label>
              <button
                type="button"
                class="plain flush"
                aria-label={`Remove question ${index + 1}`}
                onClick={() => onChange(questions.filter((_, at) => at !== index))}
              >
                Remove
              </button>
            </div>
          </div>
        )
      })}
      <p>
        <button
          type="button"
          class="small-button"
          onClick={() => onChange([...questions, { key: '', type: 'yes_no', text: '', required: true }])}
        >
          + Question
        </button>
      </p>
      <p class="soft small">
        Up to five (ten where nothing else is asked). A knockout answer ends the questions kindly: completed, not
        qualified.
      </p>
      {questions.every((_, index) => !fault(`enrichment_questions[${index}]`)) && (
        <Fault text={fault('enrichment_questions')} />
      )}
    </fieldset>
  )

  function change(index: number, part: Partial<Question>) {
    onChange(questions.map((question, at) => (at === index ? { ...question, ...part } : question)))
  }

  function retell(index: number, text: string) {
    const { key, text: before } = questions[index]!
    change(index, key === keyOf(before) ? { text, key: keyOf(text) } : { text })
  }

  function retype(index: number, type: Question['type']) {
    const { knockout: _, ...rest } = questions[index]!
    onChange(
      questions.map((question, at) => (at === index ? { ...(type === 'voice' ? rest : question), type } : question)),
    )
  }

  function knock(index: number, answer: string) {
    const { knockout: _, ...rest } = questions[index]!
    const next = answer ? { ...rest, knockout: answer as 'yes' | 'no' } : rest
    onChange(questions.map((question, at) => (at === index ? next : question)))
  }
}

const SMALL_WORDS = new Set(
  'a an and any are at can do does for have hold in is of on or the to with you your'.split(' '),
)

/** The words that carry the question: `wireman_licence`. */
function keyOf(text: string): string {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const telling = words.filter((word) => !SMALL_WORDS.has(word))
  return (telling.length > 0 ? telling : words).slice(0, 3).join('_').slice(0, 64)
}
