import { useState } from 'preact/hooks'
import type { CandidateDecision, RecruiterResult } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import type { ApiError } from '../shell/api.ts'
import { type Loaded, useData } from '../shell/loading.ts'
import { useOrgContext } from '../shell/session.ts'
import { AssignDialog } from './assignment.tsx'
import { DECISION_NAMES, decideOn, NoteDialog } from './decision.tsx'
import './candidate-work.css'

/** Loads the decision, the assignment and the note of a candidate. */
export function useCandidateWork(candidateId: string | undefined): Loaded<RecruiterResult> {
  const context = useOrgContext()
  return useData<RecruiterResult>(candidateId && context.apiPath(`/recruiter-results/${candidateId}`))
}

/** The decision, the assignment and the note of a candidate, which recruiters can change. */
export function CandidateWork({ work: { data, error, reload } }: { work: Loaded<RecruiterResult> }) {
  const context = useOrgContext()
  const [dialog, setDialog] = useState<'assign' | 'note'>()
  const [busy, setBusy] = useState(false)
  const [saveError, setSaveError] = useState<ApiError>()
  if (error) return <Notice kind="bad">{error.message}</Notice>
  if (!data) return null
  const { candidate, decision, note, assigned_to, assigned_to_name, decided_by, decided_by_name, decided_at } = data
  const isRecruiter = context.can('recruiter')
  const ids = [candidate.candidate_id]
  const onSaved = () => {
    setDialog(undefined)
    void reload()
  }
  return (
    <section class="card stack-tight candidate-work" aria-label={t('Decision')}>
      <h2>{t('Decision')}</h2>
      {isRecruiter ? (
        <div class="work-choices">
          {(Object.keys(DECISION_NAMES) as CandidateDecision[]).map((each) => (
            <button
              type="button"
              key={each}
              class="small-button"
              aria-pressed={each === decision}
              disabled={busy}
              onClick={() => void decide(each === decision ? null : each)}
            >
              {DECISION_NAMES[each]}
            </button>
          ))}
        </div>
      ) : (
        <p>{decision ? DECISION_NAMES[decision] : t('No decision yet')}</p>
      )}
      {decided_by && decided_at && (
        <p class="soft small">
          {richText('Last change by {name}, {time}', {
            name: decided_by_name ?? decided_by,
            time: <Time at={decided_at} />,
          })}
        </p>
      )}
      <div class="work-line">
        <p>{assigned_to_name ? t('Assigned to {name}', { name: assigned_to_name }) : t('Not assigned')}</p>
        {isRecruiter && (
          <button type="button" class="small-button" onClick={() => setDialog('assign')}>
            {t('Assign')}
          </button>
        )}
      </div>
      <div class="work-line">
        <p class={note ? 'note-text' : ''}>{note ?? t('No note')}</p>
        {isRecruiter && (
          <button type="button" class="small-button" onClick={() => setDialog('note')}>
            {note ? t('Change note') : t('Write note')}
          </button>
        )}
      </div>
      {saveError && <Notice kind="bad">{saveError.message}</Notice>}
      {dialog === 'assign' && (
        <AssignDialog
          candidateIds={ids}
          initialMember={assigned_to}
          onClose={() => setDialog(undefined)}
          onSaved={onSaved}
        />
      )}
      {dialog === 'note' && (
        <NoteDialog
          title={t('Note on 1 candidate')}
          initialNote={note ?? ''}
          save={(text) => decideOn(context, ids, { note: text })}
          onClose={() => setDialog(undefined)}
          onSaved={onSaved}
        />
      )}
    </section>
  )

  async function decide(newDecision: CandidateDecision | null) {
    setBusy(true)
    const response = await decideOn(context, ids, { decision: newDecision })
    setBusy(false)
    setSaveError(response.ok ? undefined : response.error)
    if (response.ok) await reload()
  }
}
