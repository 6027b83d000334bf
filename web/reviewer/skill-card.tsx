import { useState } from 'preact/hooks'
import type { ReviewPage } from '../api-types/verification.ts'
import type { DecisionDraft } from './review.ts'
import type { ReviewerTexts } from './texts.ts'

interface Props {
  skill: ReviewPage['skills'][number]
  decision: DecisionDraft
  texts: ReviewerTexts
  disabled: boolean
  onChange: (decision: DecisionDraft) => void
}

/** The form for one skill: its proof links, and inputs to endorse it, rate it and comment on it. */
export function SkillCard({ skill, decision, texts, disabled, onChange }: Props) {
  const [commenting, setCommenting] = useState(Boolean(decision.comment))
  const radioName = `endorse-${skill.skillId}`
  return (
    <fieldset class="card skill" disabled={disabled}>
      <legend class="skill-name">{skill.name}</legend>
      {skill.proofUrl.length > 0 && (
        <div class="small">
          <span class="soft">{texts.proof}:</span>
          <ul class="proof">
            {skill.proofUrl.map((url) => (
              <li key={url}>
                <a href={url} target="_blank" rel="noopener nofollow noreferrer">
                  {url}
                  <span class="hidden-text"> ({texts.opensOtherSite})</span>
                </a>
              </li>
            ))}
          </ul>
        </div>
      )}
      <div class="choices two">
        <label class="choice">
          <input
            type="radio"
            name={radioName}
            checked={decision.endorsed === true}
            onChange={() => onChange({ ...decision, endorsed: true })}
          />
          {texts.endorse}
        </label>
        <label class="choice no">
          <input
            type="radio"
            name={radioName}
            checked={decision.endorsed === false}
            onChange={() => onChange({ ...decision, endorsed: false })}
          />
          {texts.cannotEndorse}
        </label>
      </div>
      {decision.endorsed && (
        <fieldset class="rating">
          <legend class="small">{texts.rating}</legend>
          <div class="ratings">
            {texts.ratings.map((label, index) => (
              <label class="choice small" key={label}>
                <input
                  type="radio"
                  name={`rating-${skill.skillId}`}
                  aria-label={`${index + 1}: ${label}`}
                  checked={decision.rating === index + 1}
                  onClick={() =>
                    onChange({ ...decision, rating: decision.rating === index + 1 ? undefined : index + 1 })
                  }
                />
                <span aria-hidden="true">{index + 1}</span>
              </label>
            ))}
          </div>
          <p class="soft small" aria-hidden="true">
            {decision.rating ? texts.ratings[decision.rating - 1] : `1 ${texts.ratings[0]} · 5 ${texts.ratings[4]}`}
          </p>
        </fieldset>
      )}
      {commenting ? (
        <label class="small">
          {texts.commentLabel(skill.name)}
          <textarea
            maxLength={1000}
            value={decision.comment ?? ''}
            onInput={(event) => onChange({ ...decision, comment: event.currentTarget.value })}
          />
        </label>
      ) : (
        <button type="button" class="plain small flush" onClick={() => setCommenting(true)} disabled={disabled}>
          {texts.comment}
        </button>
      )}
    </fieldset>
  )
}
