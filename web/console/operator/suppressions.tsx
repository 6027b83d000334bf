import { useState } from 'preact/hooks'
import type { Suppression } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
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
  unsubscribed: t('Unsubscribed'),
  bounced: t('Emails bounced'),
  complained: t('Reported an email as spam'),
  operator: t('Added by the operator'),
}

const AUDIENCES: Record<Suppression['audience'], string> = {
  reviewer: t('Review requests'),
  student: t('Emails to students about reviews'),
  candidate: t('Emails of campaigns'),
  all: t('All emails except sign-in links'),
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
        <Link to="/operator/mails">{t('Emails')}</Link>
      </p>
      <h1>{t('Suppressed mailboxes')}</h1>
      <p class="soft">
        {t(
          'These mailboxes do not get the emails listed: the recipient unsubscribed or complained, emails to the mailbox bounced, or an operator added it. The list has no addresses, because only a hash of each mailbox is stored.',
        )}
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void suppress()
        }}
      >
        <Field
          id="suppress-email"
          label={t('Email address')}
          hint={t('Other spellings of the same mailbox, such as those with a tag, are suppressed too.')}
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
          {t('Suppress')}
        </SubmitButton>
      </form>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Suppressed mailboxes, newest first')}
        rows={list.items}
        keyOf={({ suppression_id }) => suppression_id}
        loadMore={list.more}
        loading={list.loading}
        empty={<p class="soft">{t('No mailbox is suppressed.')}</p>}
        columns={[
          { name: t('When'), cell: ({ created_at }) => <Time at={created_at} /> },
          { name: t('Reason'), cell: ({ reason }) => REASONS[reason] },
          { name: t('Emails'), cell: ({ audience }) => AUDIENCES[audience] },
          { name: t('Organisation'), cell: ({ org_id }) => (org_id === null ? t('All') : <code>{org_id}</code>) },
          {
            name: t('Caused by'),
            cell: ({ caused_by }) =>
              caused_by?.startsWith('ML_') ? (
                <Link to={`/operator/mails/${caused_by}`}>{caused_by}</Link>
              ) : (
                (caused_by ?? '–')
              ),
          },
          {
            name: t('Actions'),
            cell: (suppression) => (
              <button
                type="button"
                class="plain flush"
                aria-label={t('Remove {id}', { id: suppression.suppression_id })}
                onClick={() => setRemoving(suppression)}
              >
                {t('Remove')}
              </button>
            ),
          },
        ]}
      />
      {removing && (
        <Confirm
          title={t('Remove this suppression?')}
          action={t('Remove')}
          onClose={() => setRemoving(undefined)}
          act={() => api(`/operator/suppressions/${removing.suppression_id}`, { method: 'DELETE' })}
          onDone={() => void list.reload()}
        >
          <p>{t('The mailbox can get these emails again. Remove it only if the recipient asked for it.')}</p>
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
