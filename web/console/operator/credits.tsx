import { useRef, useState } from 'preact/hooks'
import { Action } from '../../ui/action.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { api, type Refusal } from '../shell/api.ts'
import { useList } from '../shell/loading.ts'
import type { Mode } from '../shell/session.ts'

export interface OperatedOrganisation {
  org_id: string
  name: string
  service_off: boolean
  created_at: string
  credits: Record<Mode, number>
  members: number
  keys: number
}

interface Entry {
  entry_id: string
  amount: number
  reason: string
  balance_after: number
  created_at: string
}

interface Props {
  org: OperatedOrganisation
  onClose: () => void
  onGranted: () => void
}

/** What an organisation has to spend, what moved it, and more of it. */
export function Credits({ org, onClose, onGranted }: Props) {
  const [mode, setMode] = useState<Mode>('test')
  const [amount, setAmount] = useState('')
  const [left, setLeft] = useState(org.credits)
  const [refusal, setRefusal] = useState<Refusal>()
  const [said, setSaid] = useState('')
  const [busy, setBusy] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const entries = useList<Entry>(`/orgs/${org.org_id}/${mode}/credits/entries?limit=10`)
  const fault = refusal?.details.find(({ path }) => path === 'amount')?.message
  return (
    <Dialog title={`Credits of ${org.name}`} onClose={onClose}>
      {/* There before it has anything to say: what appears together with its words is not read out everywhere. */}
      <div role="status">{said && <div class="notice good">{said}</div>}</div>
      {refusal && !fault && <Notice kind="bad">{refusal.message}</Notice>}
      <form class="stack" onSubmit={(event) => void grant(event)}>
        <fieldset>
          <legend>Which</legend>
          <div class="choices two">
            {(['test', 'live'] as const).map((each) => (
              <label class="choice" key={each}>
                <input type="radio" name="mode" checked={mode === each} onChange={() => choose(each)} />
                {each === 'test' ? 'Test' : 'Live'}: {left[each].toLocaleString()}
              </label>
            ))}
          </div>
        </fieldset>
        <Field id="credits-amount" label="Grant" hint="One is spent a candidate." fault={fault}>
          {(attributes) => (
            <input
              {...attributes}
              ref={field}
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
        <Action class="primary" busy={busy} ready={amount !== ''}>
          Grant {mode} credits
        </Action>
      </form>
      <h3>Latest entries</h3>
      <Table
        caption={`Entries of ${mode} credits, newest first`}
        rows={entries.items}
        keyOf={({ entry_id }) => entry_id}
        more={entries.more}
        loading={entries.loading}
        empty={<p class="soft">None granted, none spent.</p>}
        columns={[
          { name: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
          { name: 'What', cell: ({ reason }) => reason.replaceAll('_', ' ') },
          {
            name: 'Amount',
            right: true,
            cell: ({ amount: moved }) => (moved > 0 ? `+${moved.toLocaleString()}` : moved.toLocaleString()),
          },
          { name: 'Left', right: true, cell: ({ balance_after }) => balance_after.toLocaleString() },
        ]}
      />
    </Dialog>
  )

  function choose(next: Mode) {
    setMode(next)
    setSaid('')
    setRefusal(undefined)
  }

  async function grant(event: Event) {
    event.preventDefault()
    setBusy(true)
    const answer = await api<{ mode: Mode; balance: number }>(`/operator/orgs/${org.org_id}/credits`, {
      body: { mode, amount: Number(amount) },
    })
    setBusy(false)
    setRefusal(answer.ok ? undefined : answer.refusal)
    if (!answer.ok) {
      setSaid('')
      return
    }
    setLeft({ ...left, [mode]: answer.data.balance })
    setSaid(`Granted. ${answer.data.balance.toLocaleString()} ${mode} credits now.`)
    setAmount('')
    // Without an amount there is nothing to press: the focus goes to where the next one is typed.
    field.current?.focus()
    onGranted()
    await entries.reload()
  }
}
