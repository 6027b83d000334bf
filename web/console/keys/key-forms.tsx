import { useState } from 'preact/hooks'
import { Action } from '../../ui/action.tsx'
import { Copy } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { api, type Refusal } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'

export interface Key {
  key_id: string
  kind: 'partner' | 'session'
  mode: string
  scopes: string[]
  status: 'active' | 'revoked' | 'expired'
  expires_at: string | null
  /** While two secrets are valid: when the older one ends. */
  previous_secret_until: string | null
  created_at: string
}

export interface Keys {
  items: Key[]
  grace_hours: { usual: number; most: number }
}

export type MadeKey = Key & { secret?: string; key?: string; rotated?: boolean }

interface MakeProps {
  path: string
  onClose: () => void
  onMade: (key: MadeKey) => void
}

export function MakeKey({ path, onClose, onMade }: MakeProps) {
  const { data } = useData<{ items: string[] }>('/scopes')
  const [kind, setKind] = useState<'partner' | 'session'>('partner')
  const [chosen, setChosen] = useState<Set<string>>()
  const [lastDay, setLastDay] = useState('')
  const [refusal, setRefusal] = useState<Refusal>()
  const [busy, setBusy] = useState(false)
  const all = data?.items ?? []
  const scopes = chosen ?? new Set(all)
  const expires = endOf(lastDay)
  const fault = faultAt(refusal, 'expires_at')
  return (
    <Dialog title="Make a key" onClose={onClose}>
      <form class="stack" onSubmit={(event) => void make(event)}>
        {refusal && !fault && <Notice kind="bad">{refusal.message}</Notice>}
        <fieldset>
          <legend>Kind</legend>
          <div class="choices two">
            {(['partner', 'session'] as const).map((each) => (
              <label class="choice" key={each}>
                <input type="radio" name="kind" checked={kind === each} onChange={() => setKind(each)} />
                {each === 'partner' ? 'Partner API' : 'Verification sessions'}
              </label>
            ))}
          </div>
        </fieldset>
        {kind === 'partner' && (
          <fieldset>
            <legend>What it may do</legend>
            <div class="scopes">
              {all.map((scope) => (
                <label key={scope} class="check">
                  <input type="checkbox" checked={scopes.has(scope)} onChange={() => toggle(scope)} />
                  {scope}
                </label>
              ))}
            </div>
          </fieldset>
        )}
        <Field
          id="key-last-day"
          label="Last day (optional)"
          hint="It ends with this day, in your time zone. Empty: it is valid until it is revoked."
          fault={fault}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="date"
              value={lastDay}
              onInput={(event) => {
                setRefusal(undefined)
                setLastDay(event.currentTarget.value)
              }}
            />
          )}
        </Field>
        <Action class="primary" busy={busy} ready={kind !== 'partner' || scopes.size > 0}>
          Make the key
        </Action>
      </form>
    </Dialog>
  )

  function toggle(scope: string) {
    const next = new Set(scopes)
    if (!next.delete(scope)) next.add(scope)
    setChosen(next)
  }

  async function make(event: Event) {
    event.preventDefault()
    setBusy(true)
    const answer = await api<MadeKey>(path, {
      body: {
        kind,
        ...(kind === 'partner' ? { scopes: [...scopes] } : {}),
        ...(expires ? { expires_at: expires } : {}),
      },
    })
    setBusy(false)
    if (!answer.ok) return setRefusal(answer.refusal)
    onClose()
    onMade(answer.data)
  }
}

/** The last moment of a day, where the reader is. */
function endOf(day: string): string | undefined {
  return day ? new Date(`${day}T23:59:59.999`).toISOString() : undefined
}

interface RotateProps {
  path: string
  of: Key
  grace: Keys['grace_hours']
  onClose: () => void
  onRotated: (key: MadeKey) => void
}

export function RotateKey({ path, of, grace, onClose, onRotated }: RotateProps) {
  const [hours, setHours] = useState(String(grace.usual))
  const [refusal, setRefusal] = useState<Refusal>()
  const [busy, setBusy] = useState(false)
  const fault = faultAt(refusal, 'grace_hours')
  return (
    <Dialog title={`Rotate the secret of ${of.key_id}?`} onClose={onClose}>
      <form class="stack" noValidate onSubmit={(event) => void rotate(event)}>
        <p>
          A new secret is made. The one in use now stays valid beside it, so that you can change over without a break.
        </p>
        {of.previous_secret_until && (
          <Notice kind="wait">
            Two secrets are valid now. The older of them, which would hold until <Time at={of.previous_secret_until} />,
            ends at once.
          </Notice>
        )}
        {refusal && !fault && <Notice kind="bad">{refusal.message}</Notice>}
        <Field
          id="key-grace-hours"
          label="Hours that the old secret stays valid"
          hint={`0 where it has leaked: it ends at once. At most ${grace.most.toLocaleString()}.`}
          fault={fault}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="number"
              min="0"
              max={grace.most}
              step="1"
              value={hours}
              onInput={(event) => {
                setRefusal(undefined)
                setHours(event.currentTarget.value)
              }}
            />
          )}
        </Field>
        <Action class="primary" busy={busy}>
          Make a new secret
        </Action>
      </form>
    </Dialog>
  )

  async function rotate(event: Event) {
    event.preventDefault()
    setBusy(true)
    const answer = await api<MadeKey>(`${path}/${of.key_id}/rotate`, {
      body: hours.trim() ? { grace_hours: Number(hours) } : {},
    })
    setBusy(false)
    if (!answer.ok) return setRefusal(answer.refusal)
    onClose()
    onRotated({ ...answer.data, rotated: true })
  }
}

/** What nobody can be shown again. */
export function ShownOnce({ made, onClose }: { made: MadeKey; onClose: () => void }) {
  return (
    <Dialog title="Keep this secret now" onClose={onClose}>
      <p>It is shown once and cannot be read again.</p>
      <p class="label">Key id</p>
      <Copy text={made.key_id} label="the key id" />
      <p class="label">{made.kind === 'session' ? 'Key' : 'Secret'}</p>
      <Copy text={made.secret ?? made.key ?? ''} label="the secret" />
      {made.rotated && (
        <p class="soft">
          {made.previous_secret_until ? (
            <>
              The old secret stays valid until <Time at={made.previous_secret_until} />.
            </>
          ) : (
            'The old secret is not valid any more.'
          )}
        </p>
      )}
      {!made.rotated && made.expires_at && (
        <p class="soft">
          The key is valid until <Time at={made.expires_at} />.
        </p>
      )}
    </Dialog>
  )
}

function faultAt(refusal: Refusal | undefined, path: string): string | undefined {
  return refusal?.details.find((detail) => detail.path === path)?.message
}
