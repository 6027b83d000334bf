import { useRef, useState } from 'preact/hooks'
import type { GrantedCredits, OrganisationForOperator } from '../../api-types/console.ts'
import type { CreditEntry, Mode } from '../../api-types/partner.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useList } from '../shell/loading.ts'

const REASON_NAMES: Record<CreditEntry['reason'], string> = {
  grant: t('grant'),
  enrolment: t('enrolment'),
  refund: t('refund'),
}

interface Props {
  org: OrganisationForOperator
  onClose: () => void
  onGranted: () => void
}

/** The credits of an organisation, their latest entries, and a form to grant more. */
export function Credits({ org, onClose, onGranted }: Props) {
  const [mode, setMode] = useState<Mode>('test')
  const [amount, setAmount] = useState('')
  const [balances, setBalances] = useState(org.credits)
  const [error, setError] = useState<ApiError>()
  const [message, setMessage] = useState('')
  const [busy, setBusy] = useState(false)
  const amountField = useRef<HTMLInputElement>(null)
  const entries = useList<CreditEntry>(`/orgs/${org.org_id}/${mode}/credits/entries?limit=10`)
  const fieldError = error?.details.find(({ path }) => path === 'amount')?.message
  return (
    <Dialog title={t('Credits of {name}', { name: org.name })} onClose={onClose}>
      {/* Rendered while empty: some screen readers ignore a status that appears together with its text. */}
      <div role="status">{message && <div class="notice good">{message}</div>}</div>
      {error && !fieldError && <Notice kind="bad">{error.message}</Notice>}
      <form class="stack" onSubmit={(event) => void grant(event)}>
        <fieldset>
          <legend>{t('Mode')}</legend>
          <div class="choices two">
            {(['test', 'live'] as const).map((each) => (
              <label class="choice" key={each}>
                <input type="radio" name="mode" checked={mode === each} onChange={() => chooseMode(each)} />
                {each === 'test' ? t('Test') : t('Live')}: {balances[each].toLocaleString(displayLocale())}
              </label>
            ))}
          </div>
        </fieldset>
        <Field id="credits-amount" label={t('Credits to grant')} hint={t('1 credit per candidate.')} error={fieldError}>
          {(attributes) => (
            <input
              {...attributes}
              ref={amountField}
              type="number"
              min="1"
              max="1000000000"
              step="1"
              required
              value={amount}
              onInput={(event) => setAmount(event.currentTarget.value)}
            />
          )}
        </Field>
        <SubmitButton class="primary" busy={busy} ready={amount !== ''}>
          {t(mode === 'test' ? 'Grant test credits' : 'Grant live credits')}
        </SubmitButton>
      </form>
      <h3>{t('Latest entries')}</h3>
      <Table
        caption={t(mode === 'test' ? 'Entries of test credits, newest first' : 'Entries of live credits, newest first')}
        rows={entries.items}
        keyOf={({ entry_id }) => entry_id}
        loadMore={entries.more}
        loading={entries.loading}
        empty={<p class="soft">{t('No entries yet.')}</p>}
        columns={[
          { name: t('When'), cell: ({ created_at }) => <Time at={created_at} /> },
          { name: t('Reason'), cell: ({ reason }) => REASON_NAMES[reason] },
          {
            name: t('Amount'),
            right: true,
            cell: ({ amount: change }) =>
              change > 0 ? `+${change.toLocaleString(displayLocale())}` : change.toLocaleString(displayLocale()),
          },
          {
            name: t('Balance'),
            right: true,
            cell: ({ balance_after }) => balance_after.toLocaleString(displayLocale()),
          },
        ]}
      />
    </Dialog>
  )

  function chooseMode(next: Mode) {
    setMode(next)
    setMessage('')
    setError(undefined)
  }

  async function grant(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api<GrantedCredits>(`/operator/orgs/${org.org_id}/credits`, {
      body: { mode, amount: Number(amount) },
    })
    setBusy(false)
    setError(response.ok ? undefined : response.error)
    if (!response.ok) {
      setMessage('')
      return
    }
    setBalances({ ...balances, [mode]: response.data.balance })
    setMessage(
      t(
        mode === 'test'
          ? 'Granted. The balance is now {balance} test credits.'
          : 'Granted. The balance is now {balance} live credits.',
        { balance: response.data.balance.toLocaleString(displayLocale()) },
      ),
    )
    setAmount('')
    // The button is disabled without an amount, so the focus moves to the input.
    amountField.current?.focus()
    onGranted()
    await entries.reload()
  }
}
