import { useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Copy } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { api, type Refusal } from '../api.ts'
import { KeyLimits } from '../key-limits.tsx'
import { useData, useList } from '../loading.ts'
import { usePlace } from '../session.ts'

interface Key {
  key_id: string
  kind: 'partner' | 'session'
  mode: string
  scopes: string[]
  status: 'active' | 'revoked' | 'expired'
  expires_at: string | null
  created_at: string
}

type MadeKey = Key & { secret?: string; key?: string; previous_secret_until?: string }
type Doing = { what: 'limits' | 'rotate' | 'revoke'; key: Key }

export default function Keys() {
  const place = usePlace()
  const path = place.at('/keys')
  const list = useList<Key>(path)
  const [making, setMaking] = useState(false)
  const [doing, setDoing] = useState<Doing>()
  const [made, setMade] = useState<MadeKey>()
  const [refusal, setRefusal] = useState<Refusal>()

  return (
    <>
      <div class="page-head">
        <h1>Keys</h1>
        <button type="button" class="primary" onClick={() => setMaking(true)}>
          Make a key
        </button>
      </div>
      <p class="soft">
        A partner key signs calls to the partner API; a session key opens students' verification sessions. Both belong
        to <strong>{place.mode}</strong> data alone.
      </p>
      {(refusal ?? list.refusal) && <Notice kind="bad">{(refusal ?? list.refusal)!.message}</Notice>}
      <Table
        caption="Keys"
        rows={list.items}
        keyOf={({ key_id }) => key_id}
        loading={list.loading}
        empty={
          <>
            <h2>No {place.mode} key yet</h2>
            <p class="soft">Make one, and sign a first call with it.</p>
          </>
        }
        columns={[
          { name: 'Key', cell: ({ key_id }) => <code>{key_id}</code> },
          { name: 'Kind', cell: ({ kind }) => kind },
          { name: 'Scopes', cell: ({ kind, scopes }) => (kind === 'session' ? '–' : <Scopes names={scopes} />) },
          { name: 'Status', cell: ({ status }) => <Badge state={status} /> },
          { name: 'Made', cell: ({ created_at }) => <Time at={created_at} /> },
          { name: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
          {
            name: 'Do',
            cell: (key) =>
              key.status === 'active' && (
                <span class="row">
                  {key.kind === 'partner' && (
                    <>
                      <button type="button" class="plain flush" onClick={() => setDoing({ what: 'limits', key })}>
                        Limits
                      </button>
                      <button type="button" class="plain flush" onClick={() => setDoing({ what: 'rotate', key })}>
                        Rotate
                      </button>
                    </>
                  )}
                  <button type="button" class="plain flush" onClick={() => setDoing({ what: 'revoke', key })}>
                    Revoke
                  </button>
                </span>
              ),
          },
        ]}
      />
      {making && <MakeKey path={path} onClose={() => setMaking(false)} onMade={show} />}
      {doing?.what === 'limits' && (
        <Dialog title="Limits in use now" onClose={() => setDoing(undefined)}>
          <KeyLimits path={`${path}/${doing.key.key_id}/limits`} />
        </Dialog>
      )}
      {doing?.what === 'rotate' && (
        <Dialog title={`Rotate the secret of ${doing.key.key_id}?`} onClose={() => setDoing(undefined)}>
          <p>
            A new secret is made. The old one stays valid for 24 hours, so that you can change over without a break.
          </p>
          <button type="button" class="primary" onClick={() => void act(doing, '/rotate')}>
            Make a new secret
          </button>
        </Dialog>
      )}
      {doing?.what === 'revoke' && (
        <Dialog title={`Revoke ${doing.key.key_id}?`} onClose={() => setDoing(undefined)}>
          <p>Calls with it are refused within a second. This cannot be undone.</p>
          <button type="button" class="danger" onClick={() => void act(doing, '/revoke')}>
            Revoke the key
          </button>
        </Dialog>
      )}
      {made && (
        <Dialog title="Keep this secret now" onClose={() => setMade(undefined)}>
          <p>It is shown once and cannot be read again.</p>
          <p class="label">Key id</p>
          <Copy text={made.key_id} label="the key id" />
          <p class="label">{made.kind === 'session' ? 'Key' : 'Secret'}</p>
          <Copy text={made.secret ?? made.key ?? ''} label="the secret" />
          {made.previous_secret_until && (
            <p class="soft">
              The old secret stays valid until <Time at={made.previous_secret_until} />.
            </p>
          )}
        </Dialog>
      )}
    </>
  )

  function show(key: MadeKey) {
    setMade(key)
    void list.reload()
  }

  async function act({ key }: Doing, step: '/rotate' | '/revoke') {
    const answer = await api<MadeKey>(`${path}/${key.key_id}${step}`, { body: {} })
    setDoing(undefined)
    setRefusal(answer.ok ? undefined : answer.refusal)
    if (answer.ok && step === '/rotate') setMade(answer.data)
    await list.reload()
  }
}

function Scopes({ names }: { names: string[] }) {
  if (names.length < 4) return <>{names.join(', ')}</>
  return (
    <details>
      <summary>{names.length} scopes</summary>
      {names.join(', ')}
    </details>
  )
}

function MakeKey({ path, onClose, onMade }: { path: string; onClose: () => void; onMade: (key: MadeKey) => void }) {
  const { data } = useData<{ items: string[] }>('/scopes')
  const [kind, setKind] = useState<'partner' | 'session'>('partner')
  const [chosen, setChosen] = useState<Set<string>>()
  const [refusal, setRefusal] = useState<Refusal>()
  const [busy, setBusy] = useState(false)
  const all = data?.items ?? []
  const scopes = chosen ?? new Set(all)
  return (
    <Dialog title="Make a key" onClose={onClose}>
      <form class="stack" onSubmit={(event) => void make(event)}>
        {refusal && <Notice kind="bad">{refusal.message}</Notice>}
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
        <button type="submit" class="primary" disabled={busy || (kind === 'partner' && scopes.size === 0)}>
          Make the key
        </button>
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
    const body = kind === 'partner' ? { kind, scopes: [...scopes] } : { kind }
    const answer = await api<MadeKey>(path, { body })
    setBusy(false)
    if (!answer.ok) return setRefusal(answer.refusal)
    onClose()
    onMade(answer.data)
  }
}
