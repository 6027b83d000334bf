import { useState } from 'preact/hooks'
import type { Suppression } from '../../api-types/console.ts'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useList } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'

const REASONS: Record<Suppression['reason'], string> = {
  unsubscribed: 'Unsubscribed',
  bounced: 'Emails bounced',
  complained: 'Reported an email as spam',
  operator: 'Added by the operator',
}

const AUDIENCES: Record<Suppression['audience'], string> = {
  reviewer: 'Review requests',
  student: 'Emails to students about reviews',
  candidate: 'Emails of campaigns',
  all: 'All emails except sign-in links',
}

/** Mailboxes that do not get some or all emails. The server stores a hash of each, so that the list has no addresses. */
export default function OperatorSuppressions() {
  const list = useList<Suppression>('/operator/suppressions')
  const [email, setEmail] = useState('')
  const [error, setError] = useState<ApiError>()
  const [isBusy, setIsBusy] = useState(false)
  const [removing, setRemoving] = useState<Suppression>()
  return (
    <>
      <p>
        <Link to="/operator/mails">Emails</Link>
      </p>
      <h1>Suppressed mailboxes</h1>
      <p class="soft">
        These mailboxes do not get the emails listed: the recipient unsubscribed or complained, emails to the mailbox
        bounced, or an operator added it. The list has no addresses, because only a hash of each mailbox is stored.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void suppress()
        }}
      >
        <Field
          id="suppress-email"
          label="Email address"
          hint="Other spellings of the same mailbox, such as those with a tag, are suppressed too."
          error={error?.message}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="email"
              value={email}
              required
              onInput={(event) => setEmail(event.currentTarget.value)}
            />
          )}
        </Field>
        <SubmitButton class="primary" busy={isBusy} ready={email.trim() !== ''}>
          Suppress
        </SubmitButton>
      </form>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption="Suppressed mailboxes, newest first"
        rows={list.items}
        keyOf={({ suppression_id }) => suppression_id}
        loadMore={list.more}
        loading={list.loading}
        empty={<p class="soft">No mailbox is suppressed.</p>}
        columns={[
          { name: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
          { name: 'Reason', cell: ({ reason }) => REASONS[reason] },
          { name: 'Emails', cell: ({ audience }) => AUDIENCES[audience] },
          { name: 'Organisation', cell: ({ org_id }) => (org_id === null ? 'All' : <code>{org_id}</code>) },
          {
            name: 'Caused by',
            cell: ({ caused_by }) =>
              caused_by?.startsWith('ML_') ? (
                <Link to={`/operator/mails/${caused_by}`}>{caused_by}</Link>
              ) : (
                (caused_by ?? '–')
              ),
          },
          {
            name: 'Actions',
            cell: (suppression) => (
              <button
                type="button"
                class="plain flush"
                aria-label={`Remove ${suppression.suppression_id}`}
                onClick={() => setRemoving(suppression)}
              >
                Remove
              </button>
            ),
          },
        ]}
      />
      {removing && (
        <Confirm
          title="Remove this suppression?"
          action="Remove"
          onClose={() => setRemoving(undefined)}
          act={() => api(`/operator/suppressions/${removing.suppression_id}`, { method: 'DELETE' })}
          onDone={() => void list.reload()}
        >
          <p>The mailbox can get these emails again. Remove it only if the recipient asked for it.</p>
        </Confirm>
      )}
    </>
  )

  async function suppress() {
    setIsBusy(true)
    const response = await api<Suppression>('/operator/suppressions', { body: { email: email.trim() } })
    setIsBusy(false)
    setError(response.ok ? undefined : response.error)
    if (!response.ok) return
    setEmail('')
    void list.reload()
  }
}
