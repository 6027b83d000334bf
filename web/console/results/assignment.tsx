import { useState } from 'preact/hooks'
import type { MemberList } from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { useOrgContext } from '../shell/session.ts'

const MAX_MEMBERS = 100

/** Loads the members to whom candidates can be assigned, as IDs and names. The name of the signed-in member is marked. */
export function useAssignees(): [id: string, name: string][] | undefined {
  const { org, session } = useOrgContext()
  const { data } = useData<MemberList>(`/orgs/${org.org_id}/members?limit=${MAX_MEMBERS}`)
  return data?.items
    .filter(({ role }) => role !== 'viewer')
    .map(({ member_id, name, email }): [string, string] => [
      member_id,
      email.toLowerCase() === session.email.toLowerCase()
        ? t('{name} (you)', { name: name ?? email })
        : (name ?? email),
    ])
    .sort(([, a], [, b]) => a.localeCompare(b, displayLocale()))
}

interface Props {
  candidateIds: string[]
  initialMember?: string | null
  onClose: () => void
  onSaved: () => void
}

/** Dialog to assign candidates to a member, or to remove the assignment. */
export function AssignDialog({ candidateIds, initialMember = null, onClose, onSaved }: Props) {
  const context = useOrgContext()
  const assignees = useAssignees()
  const [member, setMember] = useState(initialMember ?? '')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const count = candidateIds.length.toLocaleString(displayLocale())
  return (
    <Dialog
      title={t(candidateIds.length === 1 ? 'Assign 1 candidate' : 'Assign {count} candidates', { count })}
      onClose={onClose}
    >
      <form class="stack" onSubmit={(event) => void save(event)}>
        {error && <Notice kind="bad">{error.message}</Notice>}
        <label>
          {t('Assigned to')}
          <select value={member} onChange={(event) => setMember(event.currentTarget.value)}>
            <option value="">{t('Nobody')}</option>
            {assignees?.map(([id, name]) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <p class="soft small">{t('Members get a notification about the candidates that others assign to them.')}</p>
        <SubmitButton class="primary" busy={busy} ready={assignees !== undefined}>
          {t('Save assignment')}
        </SubmitButton>
      </form>
    </Dialog>
  )

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api(context.apiPath('/recruiter-results/assignments'), {
      body: { candidate_ids: candidateIds, member_id: member || null },
    })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    onSaved()
  }
}
