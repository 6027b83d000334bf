import { useState } from 'preact/hooks'
import type { Operator } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useList } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'

const PATH = '/operator/operators'

/** The people who run the server. */
export default function Operators() {
  const list = useList<Operator>(PATH)
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<Operator>()
  return (
    <>
      <div class="page-head">
        <h1>{t('Operators')}</h1>
        <span class="row">
          <Link to="/operator/operators/identity-provider">{t('Identity provider')}</Link>
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            {t('Add operator')}
          </button>
        </span>
      </div>
      <p class="soft">
        {t(
          'Operators can do everything, in every organisation. Their reads and changes are recorded in the audit log.',
        )}
      </p>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Operators')}
        rows={list.items}
        keyOf={({ operator_id }) => operator_id}
        loading={list.loading}
        empty={<p class="soft">{t('No operators.')}</p>}
        columns={[
          { name: t('Email'), cell: ({ email }) => email },
          { name: t('Added'), cell: ({ created_at }) => <Time at={created_at} /> },
          { name: t('Last signed in'), cell: ({ last_sign_in_at }) => <Time at={last_sign_in_at} /> },
          {
            name: t('Actions'),
            cell: (operator) =>
              operator.disabled_at ? (
                richText('Removed {time}', { time: <Time at={operator.disabled_at} /> })
              ) : (
                <button type="button" class="plain flush" onClick={() => setRemoving(operator)}>
                  {t('Remove')}
                </button>
              ),
          },
        ]}
      />
      {adding && <AddOperator onClose={() => setAdding(false)} onAdded={() => void list.reload()} />}
      {removing && (
        <Confirm
          title={t('Remove {email}?', { email: removing.email })}
          action={t('Remove')}
          onClose={() => setRemoving(undefined)}
          act={() => api(`${PATH}/${removing.operator_id}`, { method: 'DELETE' })}
          onDone={() => void list.reload()}
        >
          <p>{t('This person loses operator access immediately. They stay a member of their organisations.')}</p>
        </Confirm>
      )}
    </>
  )
}

function AddOperator({ onClose, onAdded }: { onClose: () => void; onAdded: () => void }) {
  const [email, setEmail] = useState('')
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const fieldError = error?.details.find(({ path }) => path === 'email')?.message
  return (
    <Dialog title={t('Add operator')} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void addOperator(event)}>
        {error && !fieldError && <Notice kind="bad">{error.message}</Notice>}
        <Field
          id="operator-email"
          label={t('Email address')}
          hint={t('They sign in to this console with a link that we email to them.')}
          error={fieldError}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="email"
              required
              value={email}
              onInput={(event) => setEmail(event.currentTarget.value)}
            />
          )}
        </Field>
        <SubmitButton class="primary" busy={busy} ready={email.trim() !== ''}>
          {t('Add operator')}
        </SubmitButton>
      </form>
    </Dialog>
  )

  async function addOperator(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api(PATH, { body: { email: email.trim() } })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    onAdded()
    onClose()
  }
}
