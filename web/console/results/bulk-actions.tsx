import { useState } from 'preact/hooks'
import type { CandidateDecision, RecruiterResult } from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { ActionMenu } from '../shared/action-menu.tsx'
import type { ApiError } from '../shell/api.ts'
import { useOrgContext } from '../shell/session.ts'
import { AssignDialog } from './assignment.tsx'
import { DECISION_NAMES, decideOn, NoteDialog } from './decision.tsx'

interface Props {
  candidates: RecruiterResult[]
  onDone: () => void
  onClear: () => void
}

const MAX_CANDIDATES_PER_CALL = 400

/** Actions on the selected candidates. */
export function BulkActions({ candidates, onDone, onClear }: Props) {
  const context = useOrgContext()
  const [isWriting, setIsWriting] = useState(false)
  const [isAssigning, setIsAssigning] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const ids = candidates.map(({ candidate }) => candidate.candidate_id).slice(0, MAX_CANDIDATES_PER_CALL)
  const count = ids.length.toLocaleString(displayLocale())
  const exportUrl = `/console/api${context.apiPath(`/export/results.csv?candidate_ids=${ids.join(',')}`)}`
  return (
    <section class="bulk-actions" aria-label={t('Actions on the selected candidates')}>
      <strong aria-live="polite">
        {t(ids.length === 1 ? '1 candidate selected' : '{count} candidates selected', { count })}
      </strong>
      <span class="row">
        {(Object.keys(DECISION_NAMES) as CandidateDecision[]).map((decision) => (
          <button
            type="button"
            key={decision}
            class="small-button"
            disabled={busy}
            onClick={() => void setDecision(decision)}
          >
            {DECISION_NAMES[decision]}
          </button>
        ))}
        <button type="button" class="small-button" disabled={busy} onClick={() => setIsAssigning(true)}>
          {t('Assign')}
        </button>
        <ActionMenu
          class="small-button"
          label={t('More##menu')}
          groups={[
            [
              { name: t('Write note'), disabled: busy, act: () => setIsWriting(true) },
              { name: t('Remove decision'), disabled: busy, act: () => void setDecision(null) },
              { name: t('Export selected'), href: exportUrl, download: `results-${context.mode}.csv` },
            ],
          ]}
        />
        <button type="button" class="plain small-button" onClick={onClear}>
          {t('Clear selection')}
        </button>
      </span>
      {error && <Notice kind="bad">{error.message}</Notice>}
      {isAssigning && (
        <AssignDialog
          candidateIds={ids}
          initialMember={candidates.length === 1 ? candidates[0]!.assigned_to : null}
          onClose={() => setIsAssigning(false)}
          onSaved={() => {
            setIsAssigning(false)
            onDone()
          }}
        />
      )}
      {isWriting && (
        <NoteDialog
          title={t(ids.length === 1 ? 'Note on 1 candidate' : 'Note on {count} candidates', { count })}
          initialNote={candidates.length === 1 ? (candidates[0]!.note ?? '') : ''}
          save={(note) => decideOn(context, ids, { note })}
          onClose={() => setIsWriting(false)}
          onSaved={() => {
            setIsWriting(false)
            onDone()
          }}
        />
      )}
    </section>
  )

  async function setDecision(decision: CandidateDecision | null) {
    setBusy(true)
    const response = await decideOn(context, ids, { decision })
    setBusy(false)
    setError(response.ok ? undefined : response.error)
    if (response.ok) onDone()
  }
}
