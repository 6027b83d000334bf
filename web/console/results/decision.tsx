import { useState } from 'preact/hooks'
import type { CandidateDecision, RecruiterResult } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, type ApiResponse, api } from '../shell/api.ts'
import type { OrgContext } from '../shell/session.ts'

export const DECISION_NAMES: Record<CandidateDecision, string> = {
  called: t('Called'),
  shortlisted: t('Shortlisted'),
  rejected: t('Rejected'),
}
const DECISION_TONES: Record<CandidateDecision, string> = { called: 'wait', shortlisted: 'good', rejected: 'quiet' }

/** The decision and the note of a recruiter. */
export function DecisionCell({ result: { decision, note, decided_by, decided_by_name } }: { result: RecruiterResult }) {
  return (
    <div title={decided_by ? t('by {name}', { name: decided_by_name ?? decided_by }) : undefined}>
      {decision && <span class={`badge ${DECISION_TONES[decision]}`}>{DECISION_NAMES[decision]}</span>}
      {note && (
        <div class="soft small note-text" title={note}>
          {note}
        </div>
      )}
    </div>
  )
}

export interface DecisionChange {
  decision?: CandidateDecision | null
  note?: string | null
}

/** Stores a decision or a note for candidates. */
export function decideOn(
  context: OrgContext,
  candidateIds: string[],
  change: DecisionChange,
): Promise<ApiResponse<unknown>> {
  return api(context.apiPath('/recruiter-results/decisions'), { body: { candidate_ids: candidateIds, ...change } })
}

interface NoteDialogProps {
  title: string
  initialNote: string
  save: (note: string | null) => Promise<ApiResponse<unknown>>
  onClose: () => void
  onSaved: () => void
}

/** Dialog to write a note on one or several candidates. */
export function NoteDialog({ title, initialNote, save, onClose, onSaved }: NoteDialogProps) {
  const [note, setNote] = useState(initialNote)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={async (event) => {
          event.preventDefault()
          setBusy(true)
          const response = await save(note.trim() || null)
          setBusy(false)
          if (!response.ok) return setError(response.error)
          onSaved()
        }}
      >
        {error && <Notice kind="bad">{error.message}</Notice>}
        <label>
          {t('Note')}
          <textarea rows={4} maxLength={2000} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
        </label>
        <p class="soft small">{t('Your team sees the note. Candidates and the API do not.')}</p>
        <SubmitButton class="primary" busy={busy}>
          {t('Save note')}
        </SubmitButton>
      </form>
    </Dialog>
  )
}
