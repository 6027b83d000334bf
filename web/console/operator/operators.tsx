import { useState } from 'preact/hooks'
import type { Operator } from '../../api-types/console.ts'
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
        <h1>Operators</h1>
        <span class="row">
          <Link to="/operator/operators/identity-provider">Identity provider</Link>
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            Add operator
          </button>
        </span>
      </div>
      <p class="soft">
        Operators can do everything, in every organisation. Their reads and changes are recorded in the audit log.
      </p>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption="Operators"
        rows={list.items}
        keyOf={({ operator_id }) => operator_id}
        loading={list.loading}
        empty={<p class="soft">No operators.</p>}
        columns={[
          { name: 'Email', cell: ({ email }) => email },
          { name: 'Added', cell: ({ created_at }) => <Time at={created_at} /> },
          { name: 'Last signed in', cell: ({ last_sign_in_at }) => <Time at={last_sign_in_at} /> },
          {
            name: 'Actions',
            cell: (operator) =>
              operator.disabled_at ? (
                <>
                  Removed <Time at={operator.disabled_at} />
                </>
              ) : (
                <button type="button" class="plain flush" onClick={() => setRemoving(operator)}>
                  Remove
                </button>
              ),
          },
        ]}
      />
      {adding && <AddOperator onClose={() => setAdding(false)} onAdded={() => void list.reload()} />}
      {removing && (
        <Confirm
          title={`Remove ${removing.email}?`}
          action="Remove"
          onClose={() => setRemoving(undefined)}
          act={() => api(`${PATH}/${removing.operator_id}`, { method: 'DELETE' })}
          onDone={() => void list.reload()}
        >
          <p>This person loses operator access immediately. They stay a member of their organisations.</p>
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
    <Dialog title="Add operator" onClose={onClose}>
      <form class="stack" onSubmit={(event) => void addOperator(event)}>
        {error && !fieldError && <Notice kind="bad">{error.message}</Notice>}
        <Field
          id="operator-email"
          label="Email address"
          hint="They sign in to this console with a link that we email to them."
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
          Add operator
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
