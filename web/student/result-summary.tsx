import type { VerificationSession } from '../api-types/verification.ts'
import type { StudentTexts } from './texts.ts'

interface Props {
  session: VerificationSession
  pageTexts: StudentTexts
  /** False if the page lists the skills above. */
  showSkills?: boolean
}

/** The result on one card, to print or to save as a PDF file. */
export function ResultSummary({ session, pageTexts, showSkills = true }: Props) {
  const { outcomes, student, organisationName, completedAt, serviceVerificationId } = session
  if (!outcomes) return null
  const facts = [
    [pageTexts.summaryName, student.name],
    ...(organisationName ? [[pageTexts.summaryOrganisation, organisationName]] : []),
    ...(completedAt
      ? [[pageTexts.summaryDate, new Date(completedAt).toLocaleDateString(pageTexts.locale, { dateStyle: 'long' })]]
      : []),
    [pageTexts.summaryReference, serviceVerificationId],
  ] as const
  return (
    <section class="card stack-tight summary" aria-labelledby="summary-title">
      <h2 id="summary-title">{pageTexts.summaryTitle}</h2>
      <dl class="facts small">
        {showSkills &&
          outcomes.map(({ skillId, name, outcome }) => (
            <div key={skillId}>
              <dt dir="auto">{name}</dt>
              <dd class={outcome === 'endorsed' || outcome === 'passed' ? 'good-text' : ''}>
                {pageTexts.outcomes[outcome]}
              </dd>
            </div>
          ))}
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt class="soft">{label}</dt>
            <dd dir="auto">{value}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => print()}>
        {pageTexts.print}
      </button>
    </section>
  )
}
